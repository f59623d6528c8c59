"""What an upstream server answered, as the doors pass it on.

Doors that speak MCP give the result as the server wrote it. Others give the structured content where
it is what the tool announced or texts say no more than it does, and all of it otherwise. Pictures and sounds are not text:
they do not count towards a token budget and are never cut.
"""

from __future__ import annotations

import json
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
    if spec.source is not ToolSource.UPSTREAM or not isinstance(raw, dict):
        return Passed(raw)
    content = raw.get("content")
    if not isinstance(content, list):
        return Passed(raw)
    structured = raw.get("structuredContent")
    if structured is not None and (
        _only_texts(content) if spec.output_schema else _repeats(content, structured)
    ):
        return Passed(structured, raw)
    media = tuple(block for block in content if _is_media(block))
    return Passed(
        {key: raw[key] for key in ("content", "structuredContent") if key in raw}, raw, media
    )


def result_to_check(spec: ToolSpec, raw: Any) -> Any:
    """The part of an answer that has to fit the tool's output schema."""
    if spec.source is ToolSource.UPSTREAM and isinstance(raw, dict) and "content" in raw:
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


def _only_texts(content: list[Any]) -> bool:
    return all(block["type"] == "text" for block in content)


def _repeats(content: list[Any], structured: Mapping[str, Any]) -> bool:
    """Whether the content is the structured content once more, for clients that read only texts."""
    if not content:
        return True
    if len(content) > 1 or content[0]["type"] != "text":
        return False
    text = content[0].get("text")
    # Servers wrap what is no object, and write the bare value as text.
    bare = structured.get("result") if structured.keys() == {"result"} else structured
    if text == bare:
        return True
    try:
        return json.loads(text) in (structured, bare)
    except (TypeError, ValueError, RecursionError):
        return False


def _is_media(block: Mapping[str, Any]) -> bool:
    if block["type"] in _MEDIA:
        return True
    resource = block.get("resource")
    return isinstance(resource, dict) and "blob" in resource


def _named(block: Mapping[str, Any]) -> str:
    resource = block.get("resource")
    described = resource if isinstance(resource, dict) else block
    return f"{block['type']} {described.get('mimeType', '')}".strip()
