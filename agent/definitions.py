"""Reads the tools that a server lists; one bad definition does not cost the others."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.validators import validator_for

LONGEST_NAME: Final = 64
MOST_PARTS: Final = 10_000
# Some providers of models refuse a request, and with it every turn, for one description that is longer.
LONGEST_DESCRIPTION: Final = 1024
_CUT: Final = " …"
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)


class BadDefinition(Exception):
    """A tool that cannot be offered; the text says why."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool. `name` is an identifier; the server knows the tool as `remote_name`."""

    name: str
    remote_name: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Read:
    """What came of a list: the tools, and for the others their names with the reasons."""

    tools: Sequence[Definition]
    left_out: Sequence[tuple[str, str]]


def read(entries: Iterable[object]) -> Read:
    """The tools of a list as it came over the wire."""
    listed = list(entries)
    # A tool whose own name can be used keeps it, wherever it is in the list.
    taken = {name for name in map(_name, listed) if _IDENTIFIER.fullmatch(name)}
    tools: list[Definition] = []
    left_out: list[tuple[str, str]] = []
    seen: set[str] = set()
    for entry in listed:
        try:
            tool = _definition(entry, seen, taken)
        except BadDefinition as reason:
            left_out.append((_name(entry) or "(no name)", str(reason)))
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with it, the others are not
            left_out.append((_name(entry) or "(no name)", f"{type(fault).__name__}: {fault}"))
        else:
            seen.add(tool.remote_name)
            taken.add(tool.name)
            tools.append(tool)
    return Read(tools, left_out)


def _name(entry: object) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) else ""


def _definition(entry: object, seen: set[str], taken: set[str]) -> Definition:
    if not isinstance(entry, Mapping):
        raise BadDefinition("it is not an object")
    remote = _name(entry)
    if not remote.strip():
        raise BadDefinition("it has no name")
    if remote in seen:
        raise BadDefinition("another tool of the server has its name")
    schema = _checked(entry.get("inputSchema"))
    annotations = entry.get("annotations")
    description = entry.get("description") or entry.get("title") or remote
    return Definition(
        _identifier(remote, taken),
        remote,
        _shortened(str(description)),
        schema,
        dict(annotations) if isinstance(annotations, Mapping) else {},
    )


def _shortened(description: str) -> str:
    """As much as every model may be sent, to the end of a word."""
    if len(description) <= LONGEST_DESCRIPTION:
        return description
    room = LONGEST_DESCRIPTION - len(_CUT)
    words, _, _ = description[: room + 1].rpartition(" ")
    return (words.rstrip() or description[:room]) + _CUT


def _identifier(remote: str, taken: set[str]) -> str:
    if keyword.iskeyword(remote):
        raise BadDefinition(f"{remote} is a word of the Python language")
    if _IDENTIFIER.fullmatch(remote):
        return remote
    plain = re.sub(r"[^A-Za-z0-9_]", "_", remote)
    plain = f"_{plain}" if plain[0].isdigit() or keyword.iskeyword(plain) else plain
    alias, number = plain[:LONGEST_NAME], 1
    while alias in taken:
        number += 1
        alias = f"{plain[: LONGEST_NAME - 4]}_{number}"
    return alias


def _checked(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        raise BadDefinition("its inputSchema is not an object")
    if schema.get("type") != "object":
        raise BadDefinition('its inputSchema does not have "type": "object"')
    try:
        readable: dict[str, Any] = _readable(schema)
        validator_for(readable, default=Draft202012Validator).check_schema(readable)
        _counted(readable, readable, frozenset(), 0)
    except SchemaError as fault:
        raise BadDefinition(f"its inputSchema is no JSON Schema: {fault.message}") from fault
    except RecursionError as fault:
        raise BadDefinition("its inputSchema is nested too deeply") from fault
    return readable


def _readable(node: Any) -> Any:
    """A schema without the patterns that only JavaScript can read, such as `\\p{L}`. The server checks them
    itself, and providers of models refuse a whole request for one of them."""
    if isinstance(node, list):
        return [_readable(one) for one in node]
    if not isinstance(node, Mapping):
        return node
    return {
        name: _readable(part)
        for name, part in node.items()
        if not (name == "pattern" and isinstance(part, str) and _is_foreign(part))
    }


def _is_foreign(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return True
    return False


def _counted(node: Any, root: Mapping[str, Any], inside: frozenset[str], count: int) -> int:
    """How many parts a schema has when each reference is replaced by what it refers to, which is what a
    model is sent. A few definitions that refer to each other can make millions."""
    if count > MOST_PARTS:
        raise BadDefinition(
            f"its inputSchema has more than {MOST_PARTS} parts, references followed"
        )
    count += 1
    if isinstance(node, Mapping):
        reference = node.get("$ref")
        if isinstance(reference, str) and reference not in inside:
            count = _counted(_referred(reference, root), root, inside | {reference}, count)
        # What is defined counts where it is referred to.
        parts = [part for name, part in node.items() if name != "$defs"]
    else:
        parts = node if isinstance(node, list) else []
    for part in parts:
        count = _counted(part, root, inside, count)
    return count


def _referred(reference: str, root: Any) -> Any:
    """What a reference inside the schema leads to; None where it leads nowhere."""
    found = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
