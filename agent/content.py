"""What a tool answered, as text for a model and for people.

Text alone: many model servers take nothing else from a tool. Pictures and sound are named, not shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mcp.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    Result,
    TextContent,
    TextResourceContents,
)
from pydantic import TypeAdapter, ValidationError

_BLOCK: Final[TypeAdapter[ContentBlock]] = TypeAdapter(ContentBlock)


class Answer(Result):
    """What a tool answered, not looked into. The tool has done its work by then, so what is wrong in the answer
    must not make it look as if the server had not been reached: the call would be made again."""

    content: Any = None
    structuredContent: Any = None  # noqa: N815 - as on the wire
    isError: Any = False  # noqa: N815 - as on the wire

    def wrong(self) -> str:
        """What in it is not as MCP has it; empty where nothing is."""
        try:
            CallToolResult.model_validate(self.model_dump(by_alias=True, exclude_unset=True))
        except ValidationError as fault:
            first = fault.errors(include_input=False)[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return ""

    def read(self) -> CallToolResult:
        """The answer, as far as it can be read."""
        blocks = self.content if isinstance(self.content, list) else [self.content]
        structured = self.structuredContent
        return CallToolResult(
            content=[_read(block) for block in blocks if block is not None],
            structuredContent=structured if isinstance(structured, dict) else None,
            isError=self.isError is True,
        )


def _read(block: Any) -> ContentBlock:
    try:
        return _BLOCK.validate_python(block)
    except ValidationError:
        given = block if isinstance(block, Mapping) else {"text": block}
        text = given.get("text")
        unread = f"[{given.get('type') or 'something'}, cannot be read]"
        return TextContent(type="text", text=text if isinstance(text, str) else unread)


def text_of(result: CallToolResult) -> str:
    """The answer, whole."""
    text = "\n".join(filter(None, map(_block, result.content)))
    if not text and result.structuredContent is not None:
        text = json.dumps(result.structuredContent, ensure_ascii=False)
    return text or "(no content)"


def _block(block: Any) -> str:
    match block:
        case TextContent():
            return block.text
        case EmbeddedResource(resource=TextResourceContents(text=text)):
            return text
        case EmbeddedResource():
            return f"[resource {block.resource.uri}, {block.resource.mimeType or 'binary'}]"
        case ResourceLink():
            return f"[resource {block.uri}: {block.name}]"
        case ImageContent() | AudioContent():
            return f"[{block.type}, {block.mimeType}, not shown]"
        case _:
            return f"[{type(block).__name__}]"
