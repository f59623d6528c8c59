"""The one call path."""

from tools.execution.execute import execute, list_tools

__all__ = ["execute", "list_tools"]
