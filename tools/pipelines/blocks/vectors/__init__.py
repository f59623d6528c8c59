"""Stores of passage vectors, all with the interface `VectorStore`."""
