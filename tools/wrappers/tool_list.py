"""What a service answers to `GET /tools`, read tool by tool: a bad one spoils no other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MOST_TOOLS: Final = 5_000
LONGEST_NAME: Final = 200


class ListFault(Exception):
    """The answer is no list of tools at all. The message says why."""


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its service describes it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]

    @property
    def properties(self) -> Mapping[str, Any]:
        return self.input_schema["properties"]  # type: ignore[no-any-return]  # see _tool

    @property
    def required(self) -> frozenset[str]:
        given = self.input_schema.get("required")
        names = given if isinstance(given, list) else []
        return frozenset(name for name in names if isinstance(name, str))


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a service by name, and why others are left out, by what they are called.

    `nameless` tells that some of those are called nothing.
    """

    service: str
    version: str
    tools: tuple[ListedTool, ...]
    faults: Mapping[str, str] = field(default_factory=dict)
    nameless: bool = False


def read_tools(body: bytes) -> ToolList:
    """The list in the body of an answer.

    Raises:
        ListFault: there is none.
    """
    try:
        document = whole(json.loads(body, parse_constant=_refuse))
    except (ValueError, RecursionError) as fault:
        raise ListFault(f"the answer is not JSON: {fault}") from fault
    if isinstance(document, dict) and "tools" not in document:
        document = document.get("data")
    document = document if isinstance(document, dict) else {}
    entries = document.get("tools")
    if not isinstance(entries, list):
        raise ListFault("the answer has no list of tools")
    if len(entries) > MOST_TOOLS:
        raise ListFault(f"it has {len(entries):,} tools; at most {MOST_TOOLS:,} are read")
    tools, faults = _sorted_out(entries)
    service, version = document.get("service"), document.get("version")
    return ToolList(
        service if isinstance(service, str) else "",
        version if isinstance(version, str) else "",
        tuple(tools[name] for name in sorted(tools)),
        faults,
        nameless=any(not _name(entry) for entry in entries),
    )


def _sorted_out(entries: Sequence[Any]) -> tuple[dict[str, ListedTool], dict[str, str]]:
    tools: dict[str, ListedTool] = {}
    faults: dict[str, str] = {}
    for number, entry in enumerate(entries, 1):
        called = _name(entry) or f"entry {number}"
        try:
            tool = _tool(entry)
        except ListFault as fault:
            faults[called[:LONGEST_NAME]] = str(fault)
            continue
        if tool.name in tools:
            faults[called] = "it is listed twice; the first one counts"
        tools.setdefault(tool.name, tool)
    return tools, faults


def _name(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name.strip() else ""


def _tool(entry: Any) -> ListedTool:
    if not isinstance(entry, dict):
        raise ListFault("it is not an object")
    name, description = entry.get("name"), entry.get("description")
    schema = entry.get("input_schema", entry.get("inputSchema"))
    if not isinstance(name, str) or not name.strip():
        raise ListFault("it has no name")
    if len(name) > LONGEST_NAME:
        raise ListFault(f"its name has more than {LONGEST_NAME} characters")
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise ListFault("its input_schema is not that of an object")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise ListFault("the properties of its input_schema are not an object")
    try:
        json.dumps(schema, allow_nan=False)
    except ValueError as fault:
        raise ListFault("its input_schema has a number that is too large") from fault
    told = description if isinstance(description, str) and description.strip() else name
    return ListedTool(name, told, {**schema, "properties": properties})


def whole(value: Any) -> Any:
    """`value` without halves of characters, which JSON can hold and files cannot."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole(one) for one in value]
    if isinstance(value, dict):
        return {whole(key): whole(one) for key, one in value.items()}
    return value


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no value of JSON")
