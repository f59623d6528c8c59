"""`tool_search`: finds the tools a caller may see, by meaning and by words."""

from tools.backends.tool_search.search import (
    CALL_SCHEMA,
    SCHEMA,
    VisibleTools,
    call_tool,
    tool_search,
)

__all__ = ["CALL_SCHEMA", "SCHEMA", "VisibleTools", "call_tool", "tool_search"]
