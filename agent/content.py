"""What a tool answered, as text for a model and for people.

Text alone: many model servers take nothing else from a tool. Pictures and sound are named, not shown.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)


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
