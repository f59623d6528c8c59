"""Rows for tests: plain functions, sound by default, every field open to an override."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from tools.contracts import ToolSource
from tools.models import ApiClient, ServiceConfiguration, Tool, Toolset
from tools.services.issue_key import replace_key

numbers = count(1)


def tool_values(**overrides: Any) -> dict[str, Any]:
    """What a sound tool is made of; served by the commandable backend of tests/faults."""
    return {
        "name": f"echo_{next(numbers)}",
        "description": "Answers with its arguments; use it to try the path.",
        "input_schema": {"type": "object", "properties": {}},
        "source": ToolSource.HTTP_API.value,
        "handler": "echo",
        **overrides,
    }


def make_tool(**overrides: Any) -> Tool:
    """A saved tool."""
    tool = Tool(**tool_values(**overrides))
    tool.save()
    return tool


def make_toolset(*, tools: Iterable[Tool] = (), **overrides: Any) -> Toolset:
    """A saved toolset that holds `tools`."""
    toolset = Toolset(**{"slug": f"set-{next(numbers)}", **overrides})
    toolset.save()
    toolset.tools.set(tools)
    return toolset


def make_client(*, toolsets: Iterable[Toolset] = (), **overrides: Any) -> tuple[ApiClient, str]:
    """A saved client that was granted `toolsets`, and its key."""
    issued = replace_key(ApiClient(**{"name": f"client {next(numbers)}", **overrides}))
    issued.client.toolsets.set(toolsets)
    return issued.client, issued.key


def make_service(**overrides: Any) -> ServiceConfiguration:
    """A saved service configuration."""
    row = ServiceConfiguration(**{"service_name": "mcp-control-plane", **overrides})
    row.save()
    return row
