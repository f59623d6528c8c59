"""What the scriptable upstream offers: the definitions of its tools, prompts and resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.mcp_upstream_state import Switches

Definition = dict[str, Any]

READ_ONLY = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
DESTRUCTIVE = {"readOnlyHint": False, "destructiveHint": True}
TEXT = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 0}


def tool(name: str, description: str, /, **properties: Any) -> Definition:
    """A definition whose parameters are all optional."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS: tuple[Definition, ...] = (
    {
        **tool("echo", "Answers with the text it was given.", text=TEXT),
        "annotations": {**READ_ONLY, "title": "Echo"},
        "_meta": {"tags": ["trial"], "version": "1.0", "author": "tests"},
    },
    {
        **tool("sleep", "Answers after some milliseconds.", ms=NUMBER),
        "annotations": READ_ONLY,
    },
    tool("fail", "Always ends with an error of its own.", message=TEXT),
    tool("garbage", "Answers with bytes that are not JSON."),
    tool("malformed", "Answers with a result that is none."),
    tool("huge", "Answers with that many kilobytes of text.", kilobytes=NUMBER),
    tool("progress", "Tells how far it is, step by step.", steps=NUMBER),
    tool("elicit", "Asks the user for a name and answers with it."),
    tool("change", "Changes the description of a tool.", tool=TEXT, description=TEXT),
    {**tool("crash", "Ends the whole server in the middle."), "annotations": DESTRUCTIVE},
    tool("counted", "Counts how often it ran.", key=TEXT),
    tool("image", "Answers with a small picture."),
    tool("audio", "Answers with a short sound."),
    tool("link", "Answers with a link to a resource."),
    tool("embedded", "Answers with a resource inside."),
    {
        **tool("structured", "Answers with an object.", number=NUMBER),
        "outputSchema": {
            "type": "object",
            "properties": {"number": {"type": "integer"}, "double": {"type": "integer"}},
            "required": ["number", "double"],
        },
    },
    tool("context", "Answers with what came along with the call."),
)
# What no client should fall over. Each stands beside the good ones.
BAD_TOOLS: tuple[Any, ...] = (
    {"name": "without_schema", "description": "It has no schema at all."},
    {
        "name": "of_list",
        "description": "Its arguments are a list.",
        "inputSchema": {"type": "array"},
    },
    {"name": "of_nothing", "description": "Its schema is no schema.", "inputSchema": {"type": 7}},
    {"name": "", "description": "It has no name.", "inputSchema": {"type": "object"}},
    {"name": 42, "description": "Its name is a number.", "inputSchema": {"type": "object"}},
    {
        "name": "echo",
        "description": "A second one of that name.",
        "inputSchema": {"type": "object"},
    },
    {"name": "silent", "inputSchema": {"type": "object"}},
    {
        "name": "odd_answer",
        "description": "Its answers are said to be lists.",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "array"},
    },
    "not even an object",
)
PROMPTS: tuple[Definition, ...] = (
    {
        "name": "greet",
        "description": "Greets somebody.",
        "arguments": [{"name": "who", "required": True}],
    },
)
RESOURCES: tuple[Definition, ...] = (
    {"uri": "trial://page", "name": "page", "mimeType": "text/plain"},
)
# What the argument of the prompt may be completed to.
NAMES = ("Ada", "Alan", "Grace")
TEMPLATES: tuple[Definition, ...] = (
    {"uriTemplate": "trial://page/{number}", "name": "pages", "mimeType": "text/plain"},
)


def capabilities(switches: Switches) -> dict[str, Any]:
    """What the server says it is capable of."""
    lists = {kind: {"listChanged": True} for kind in ("tools", "prompts", "resources")}
    able: dict[str, Any] = {**lists, "completions": {}}
    return {name: about for name, about in able.items() if name not in switches.without}


def tools(switches: Switches) -> list[Any]:
    """The tools as they are listed now."""
    if switches.no_tools:
        return []
    listed = [*_listed(TOOLS, switches), *switches.more_tools]
    return listed + list(BAD_TOOLS) if switches.bad_tools else listed


def others(switches: Switches) -> dict[str, tuple[str, list[Any]]]:
    """What else is listed now: the member of the answer and its items, by method."""
    return {
        "prompts/list": ("prompts", _listed(PROMPTS, switches)),
        "resources/list": ("resources", _listed(RESOURCES, switches)),
        "resources/templates/list": ("resourceTemplates", _listed(TEMPLATES, switches)),
    }


def _listed(definitions: Sequence[Definition], switches: Switches) -> list[Any]:
    return [
        {**one, "description": switches.descriptions[one["name"]]}
        if one["name"] in switches.descriptions
        else one
        for one in definitions
        if one["name"] not in switches.without
    ]


def page(items: list[Any], cursor: str | None, size: int) -> tuple[list[Any], str | None]:
    """One page of a list, and where the next begins."""
    start = int(cursor or 0)
    if not size or start + size >= len(items):
        return items[start:], None
    return items[start : start + size], str(start + size)
