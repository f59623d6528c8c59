"""A chat that uses the tools of an MCP server; a client of the control plane that shares no code with it."""
