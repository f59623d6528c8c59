"""The parts of a prompt: its arguments, and messages of MCP content blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tools.offerings.checks import (
    Check,
    annotations_fault,
    anything,
    base64_fault,
    choices_fault,
    flag_fault,
    identifier_fault,
    mime_fault,
    object_fault,
    object_faults,
    role_fault,
    size_fault,
    text_fault,
)
from tools.offerings.placeholders import PlaceholderFault, expand, names_in
from tools.offerings.uris import is_absolute

MOST_MESSAGES: Final = 100
MOST_ARGUMENTS: Final = 50


class NotAnAddress(ValueError):
    """What came out where an absolute URI has to be."""


def argument_faults(arguments: Any) -> list[str]:
    """Why `arguments` cannot be those of a prompt, one line per fault."""
    if not isinstance(arguments, list) or len(arguments) > MOST_ARGUMENTS:
        return [f'Must be a list of at most {MOST_ARGUMENTS} objects such as {{"name": "topic"}}.']
    faults: list[str] = []
    seen: set[str] = set()
    for place, argument in enumerate(arguments):
        faults += object_faults(argument, f"[{place}]", {"name": identifier_fault}, _ARGUMENT)
        name = argument.get("name") if isinstance(argument, dict) else None
        if isinstance(name, str):
            if name in seen:
                faults.append(f"[{place}].name: {name} is there twice.")
            seen.add(name)
    return faults


def message_faults(messages: Any, known: Iterable[str]) -> list[str]:
    """Why `messages` cannot be those of a prompt with the arguments `known`, one line per fault."""
    if not isinstance(messages, list) or not 1 <= len(messages) <= MOST_MESSAGES:
        return [f"Must be a list of 1 to {MOST_MESSAGES} messages."]
    faults: list[str] = []
    names = set(known)
    for place, message in enumerate(messages):
        wrong = object_faults(message, f"[{place}]", {"role": role_fault, "content": anything}, {})
        if not wrong:
            wrong = block_faults(message["content"], names, f"[{place}].content")
        faults += wrong
    return faults


def block_faults(block: Any, known: Iterable[str], where: str) -> list[str]:
    """Why `block` is no content block, or which of its placeholders has no argument."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in _BLOCKS:
        return [f"{where}: Must be an object whose type is one of {', '.join(_BLOCKS)}."]
    faults = object_faults(block, where, {"type": anything, **_BLOCKS[kind]}, _OPTIONAL[kind])
    if kind == "resource" and not faults:
        faults = _contents_faults(block["resource"], f"{where}.resource")
    return faults or _text_faults(block, set(known), where)


def render_messages(
    messages: Iterable[Mapping[str, Any]], values: Mapping[str, str], room: int
) -> list[dict[str, Any]]:
    """The messages with `values` in place of their placeholders.

    Raises:
        TooLong: all texts together would have more than `room` characters.
        NotAnAddress: a value makes no absolute URI where one has to be.
    """
    rendered = []
    for message in messages:
        block = dict(message["content"])
        holder = block
        if block["type"] == "resource":
            holder = block["resource"] = dict(block["resource"])
        for key in ("text", "uri"):
            if key in holder:
                holder[key] = expand(holder[key], values, room)
                room -= len(holder[key])
        if "uri" in holder and not is_absolute(holder["uri"]):
            raise NotAnAddress(holder["uri"])
        rendered.append({"role": message["role"], "content": block})
    return rendered


def _text_faults(block: Mapping[str, Any], known: set[str], where: str) -> list[str]:
    faults = []
    for key, text in _texts(block):
        try:
            names = names_in(text)
        except PlaceholderFault as fault:
            faults.append(f"{where}.{key}: {fault}")
            continue
        unknown = [name for name in names if name not in known]
        if unknown:
            faults.append(f"{where}.{key}: {', '.join(unknown)} is not among the arguments.")
        elif key.endswith("uri") and not names and not is_absolute(text):
            faults.append(f"{where}.{key}: Must be an absolute URI.")
    return faults


def _texts(block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The places of a block where placeholders are understood."""
    for key in ("text", "uri"):
        if key in block:
            yield key, block[key]
        if key in block.get("resource", {}):
            yield f"resource.{key}", block["resource"][key]


def _contents_faults(contents: Any, where: str) -> list[str]:
    optional = {
        "mimeType": mime_fault,
        "text": text_fault,
        "blob": base64_fault,
        "_meta": object_fault,
    }
    faults = object_faults(contents, where, {"uri": text_fault}, optional)
    if not faults and ("text" in contents) == ("blob" in contents):
        faults.append(f"{where}: Must have either text or blob.")
    return faults


_ARGUMENT: Final[Mapping[str, Check]] = {
    "title": text_fault,
    "description": text_fault,
    "required": flag_fault,
    "choices": choices_fault,
}
_BLOCKS: Final[Mapping[str, Mapping[str, Check]]] = {
    "text": {"text": text_fault},
    "image": {"data": base64_fault, "mimeType": mime_fault},
    "audio": {"data": base64_fault, "mimeType": mime_fault},
    "resource": {"resource": object_fault},
    "resource_link": {"uri": text_fault, "name": text_fault},
}
_SHARED: Final[Mapping[str, Check]] = {"annotations": annotations_fault, "_meta": object_fault}
_OPTIONAL: Final[Mapping[str, Mapping[str, Check]]] = {
    **dict.fromkeys(_BLOCKS, _SHARED),
    "resource_link": {
        **_SHARED,
        "title": text_fault,
        "description": text_fault,
        "mimeType": mime_fault,
        "size": size_fault,
    },
}
