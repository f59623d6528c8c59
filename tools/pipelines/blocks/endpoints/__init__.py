"""Models behind OpenAI-compatible APIs: chat, embeddings and reranking, each behind a breaker."""
