"""Results for clients of older versions: in blocks they know, and nothing is lost that they can read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

# Versions whose clients know neither resource links nor structured content.
BEFORE_RESOURCE_LINKS: Final = frozenset({"2024-11-05", "2025-03-26"})
# The version whose clients know no sounds.
BEFORE_AUDIO: Final = frozenset({"2024-11-05"})


def readable(result: Mapping[str, Any], version: str) -> dict[str, Any]:
    """The result of a tool as a client of `version` can read it."""
    if version not in BEFORE_RESOURCE_LINKS:
        return dict(result)
    content = [known_to(version, block) for block in result["content"]]
    structured = result.get("structuredContent")
    if not content and structured is not None:
        content = [{"type": "text", "text": json.dumps(structured, ensure_ascii=False)}]
    return {**result, "content": content}


def known_to(version: str, block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A content block as a client of `version` can read it."""
    if version not in BEFORE_RESOURCE_LINKS:
        return block
    kind = block.get("type")
    if kind == "resource_link":
        return {"type": "text", "text": f"{block.get('name', 'resource')}: {block.get('uri', '')}"}
    if kind == "audio" and version in BEFORE_AUDIO:
        sound = {"mimeType": block.get("mimeType"), "blob": block.get("data")}
        return {"type": "resource", "resource": {"uri": "audio://content", **sound}}
    return block
