"""How well pipelines find what people judged to be relevant."""
