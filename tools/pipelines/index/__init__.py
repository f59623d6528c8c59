"""Indexes as files: parts per document, versions assembled from them, and versions opened to search."""
