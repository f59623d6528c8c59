"""What of a definition is pinned, and the hash it is known by.

Only what a model reads or a client acts on is pinned: the rest (icons, figures in `_meta`) may
change without anybody being misled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final


class Kind(StrEnum):
    """The kinds of things a server offers."""

    TOOL = "tool"
    PROMPT = "prompt"
    RESOURCE = "resource"
    TEMPLATE = "template"


PINNED_KEYS: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.TOOL: ("name", "title", "description", "inputSchema", "outputSchema", "annotations"),
    Kind.PROMPT: ("name", "title", "description", "arguments"),
    Kind.RESOURCE: ("uri", "name", "title", "description", "mimeType"),
    Kind.TEMPLATE: ("uriTemplate", "name", "title", "description", "mimeType"),
}
# What each kind is known by at its server.
IDENTITY: Final[Mapping[Kind, str]] = {
    Kind.TOOL: "name",
    Kind.PROMPT: "name",
    Kind.RESOURCE: "uri",
    Kind.TEMPLATE: "uriTemplate",
}


def pinned(kind: Kind, definition: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a definition that must not change unseen."""
    return {key: definition[key] for key in PINNED_KEYS[kind] if definition.get(key) is not None}


def fingerprint(kind: Kind, definition: Mapping[str, Any]) -> str:
    """The hash of that part; the order of keys does not matter."""
    text = json.dumps(pinned(kind, definition), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
