"""Whole MCP servers of others, and our own Todo server, behind a whole control plane."""
