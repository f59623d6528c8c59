"""The chat agent and its parts."""
