"""The built-in tools `tool_search` and `call_tool`: what they take and how they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

from tools.contracts import Caller, ToolSource, ToolSpec
from tools.errors import ErrorDetails, ExecutionFailed, ServiceUnavailable

if TYPE_CHECKING:
    from tools.backends.tool_search.finder import Finder

# The two ways to the other tools are never among what is found.
WAYS: Final = frozenset({"tool_search", "call_tool"})

VisibleTools = Callable[[Caller], Sequence[ToolSpec]]

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": 500,
            "description": "What you want to get done, in your own words, or a tool's name.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 20,
            "default": 5,
            "description": "Most tools to return.",
        },
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 20,
            "description": "Only tools that have all of these tags.",
        },
        "read_only": {
            "type": "boolean",
            "description": "true: only tools that change nothing. false: only the others.",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}

CALL_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "Name of the tool, as tool_search gave it.",
        },
        "arguments": {
            "type": "object",
            "default": {},
            "description": "Its arguments, as its input_schema asks.",
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}


@cache
def finder() -> Finder:
    """The one of this process."""
    # Imported here: a process that never searches does without numpy.
    from tools.backends.tool_search.finder import Finder
    from tools.pipelines.blocks.embedder import default_embedder

    return Finder(default_embedder, lambda: Path(settings.VAR_DIR) / "models" / "tools.sqlite3")


async def tool_search(
    arguments: Mapping[str, Any], caller: Caller, visible: VisibleTools | None
) -> dict[str, Any]:
    """The tools `caller` may see that match, with their schemas.

    Raises:
        ServiceUnavailable: this process serves no catalogue.
    """
    from tools.backends.tool_search.answer import answer

    if visible is None:
        raise ServiceUnavailable("The catalogue is not available in this process", retry_after=1)
    specs = [spec for spec in visible(caller) if not _way(spec) and _asked_for(spec, arguments)]
    found = await finder().find(str(arguments["query"]), specs)
    shown = found.matches[: int(arguments.get("limit", 5))]
    return answer(shown, matching=found.matching, total=len(found.matches))


async def call_tool(arguments: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    """Never reached by a call that came through a door: the path aims it at the named tool.

    Raises:
        ExecutionFailed: always.
    """
    raise ExecutionFailed(
        "call_tool only passes calls on to other tools",
        ErrorDetails(parameter="name", suggestion="Call the tool itself by its name"),
    )


def _way(spec: ToolSpec) -> bool:
    return spec.source is ToolSource.BUILTIN and spec.handler in WAYS


def _asked_for(spec: ToolSpec, arguments: Mapping[str, Any]) -> bool:
    tags = {str(tag).casefold() for tag in spec.tags}
    if not {tag.casefold() for tag in arguments.get("tags", ())} <= tags:
        return False
    read_only = arguments.get("read_only")
    return read_only is None or spec.read_only == read_only
