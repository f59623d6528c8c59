"""The pages of the request log."""
