"""The result of a tool as its server wrote it, looked at just enough to be passed on safely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.context.redact import redact_text

INPUT_REQUIRED: Final = "input_required"
LONGEST_MESSAGE: Final = 2000
_CARRIED: Final = ("structuredContent", "_meta")
# The texts that each kind of block must have.
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": ("uri", "text"),
    "blob": ("uri", "blob"),
}


class Malformed(Exception):
    """Not the result of a tool. The message says why, for the log."""


def checked(result: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a result that are passed on.

    Raises:
        Malformed: it has none, or they are no content.
    """
    structured = result.get("structuredContent")
    content = result.get("content", [] if isinstance(structured, dict) else None)
    if not isinstance(content, list):
        raise Malformed("there is no content")
    for block in content:
        _check_block(block)
    if structured is not None and not isinstance(structured, dict):
        raise Malformed("structuredContent is not an object")
    carried = {key: result[key] for key in _CARRIED if isinstance(result.get(key), dict)}
    return {"content": content, **carried}


def check_fetched(method: str, result: Mapping[str, Any]) -> None:
    """Hold the answers to prompts/get and resources/read to what clients can read.

    Raises:
        Malformed: it would break them.
    """
    if method == "prompts/get":
        for message in _objects(result.get("messages"), "messages"):
            if message.get("role") not in ("user", "assistant"):
                raise Malformed("a message is of nobody")
            _check_block(message.get("content"))
    elif method == "resources/read":
        for content in _objects(result.get("contents"), "contents"):
            _check_block({"type": "resource", "resource": content})


def _objects(items: Any, name: str) -> list[Mapping[str, Any]]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Malformed(f"there are no {name}")
    return items


def _check_block(block: Any) -> None:
    """A block that lacks what its kind must have would break clients; kinds not known here pass."""
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        raise Malformed("a content block has no type")
    kind: str = block["type"]
    holder: Any = block
    if kind == "resource":
        holder = block.get("resource")
        if not isinstance(holder, dict):
            raise Malformed("an embedded resource has no content")
        kind = "blob" if "blob" in holder else kind
    for name in _TEXTS.get(kind, ()):
        if not isinstance(holder.get(name), str):
            raise Malformed(f"a block of type {kind} has no {name}")


def said(content: list[Any]) -> str:
    """What the texts among `content` say."""
    texts = [block["text"] for block in content if isinstance(block.get("text"), str)]
    return redact_text("\n".join(texts)[:LONGEST_MESSAGE]).strip() or "The tool reports an error"
