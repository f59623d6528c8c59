"""Rows for tests: plain functions, sound by default, every field open to an override."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from tools.contracts import ToolSource
from tools.models import ApiClient, Prompt, Resource, ServiceConfiguration, Tool, Toolset
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


def prompt_values(**overrides: Any) -> dict[str, Any]:
    """What a sound prompt is made of."""
    return {
        "name": f"prompt_{next(numbers)}",
        "description": "Asks about a topic.",
        "arguments": [{"name": "topic", "required": True}],
        "messages": [{"role": "user", "content": {"type": "text", "text": "Tell about {topic}."}}],
        **overrides,
    }


def make_prompt(**overrides: Any) -> Prompt:
    """A saved prompt."""
    prompt = Prompt(**prompt_values(**overrides))
    prompt.save()
    return prompt


def resource_values(**overrides: Any) -> dict[str, Any]:
    """What a sound resource is made of."""
    number = next(numbers)
    values = {"uri": f"docs://page/{number}", "name": f"page {number}", **overrides}
    return values if "blob" in values else {"text": "Some text.", **values}


def make_resource(**overrides: Any) -> Resource:
    """A saved resource."""
    resource = Resource(**resource_values(**overrides))
    resource.save()
    return resource


def make_toolset(
    *,
    tools: Iterable[Tool] = (),
    prompts: Iterable[Prompt] = (),
    resources: Iterable[Resource] = (),
    **overrides: Any,
) -> Toolset:
    """A saved toolset that holds what is given."""
    toolset = Toolset(**{"slug": f"set-{next(numbers)}", **overrides})
    toolset.save()
    toolset.tools.set(tools)
    toolset.prompts.set(prompts)
    toolset.resources.set(resources)
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
