"""What an upstream server answered, as the doors pass it on.

Doors that speak MCP give the result as the server wrote it. Others give the structured content where
texts say no more than it does, and the content blocks otherwise. Pictures and sounds are not text:
they do not count towards a token budget and are never cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.contracts import ToolSource, ToolSpec

_MEDIA: Final = frozenset({"image", "audio"})


@dataclass(frozen=True, slots=True)
class Passed:
    """An answer: for every door, for those that speak MCP, and the blocks that are never cut."""

    data: Any
    result: Mapping[str, Any] | None = None
    media: tuple[Mapping[str, Any], ...] = ()


def passed_on(spec: ToolSpec, raw: Any) -> Passed:
    """`raw` as it is answered. What does not come from an upstream server is answered as it is."""
    if spec.source is not ToolSource.UPSTREAM or not isinstance(raw, Mapping):
        return Passed(raw)
    content = raw.get("content")
    if not isinstance(content, list):
        return Passed(raw)
    structured = raw.get("structuredContent")
    if structured is not None and all(block["type"] == "text" for block in content):
        return Passed(structured, raw)
    media = tuple(block for block in content if _is_media(block))
    return Passed(
        {key: raw[key] for key in ("content", "structuredContent") if key in raw}, raw, media
    )


def result_to_check(spec: ToolSpec, raw: Any) -> Any:
    """The part of an answer that has to fit the tool's output schema."""
    if spec.source is ToolSource.UPSTREAM and isinstance(raw, Mapping) and "content" in raw:
        return raw.get("structuredContent")
    return raw


def without_media(passed: Passed) -> Any:
    """The data with a word in place of each picture or sound."""
    if not passed.media:
        return passed.data
    content = [
        {"type": "text", "text": f"[{_named(block)}]"} if _is_media(block) else block
        for block in passed.data["content"]
    ]
    return {**passed.data, "content": content}


def _is_media(block: Mapping[str, Any]) -> bool:
    if block["type"] in _MEDIA:
        return True
    resource = block.get("resource")
    return isinstance(resource, Mapping) and "blob" in resource


def _named(block: Mapping[str, Any]) -> str:
    resource = block.get("resource")
    described = resource if isinstance(resource, Mapping) else block
    return f"{block['type']} {described.get('mimeType', '')}".strip()
