"""Child processes that serve MCP over their standard streams. None of them outlives this process."""
