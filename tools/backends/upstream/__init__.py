"""Tools of upstream MCP servers: the client side of the protocol, and the connections it runs over."""
