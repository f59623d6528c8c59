"""RAG: the parts that pipelines are made of, and the pipelines."""
