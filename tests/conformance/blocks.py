"""Fixtures whose answers are content blocks; results of the catalogue's tools are JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.conformance.media import PNG, WAV

_IMAGE: Final = {"type": "image", "data": PNG, "mimeType": "image/png"}


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def answered(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """The result of a tool call, as every version takes it."""
    return {"content": blocks, "resultType": "complete"}


def _embedded(uri: str, mime_type: str, body: str) -> dict[str, Any]:
    contents = {"uri": uri, "mimeType": mime_type, "text": body}
    return {"type": "resource", "resource": contents}


BLOCKS: Final[Mapping[str, list[dict[str, Any]]]] = {
    "test_image_content": [_IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        _embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        _IMAGE,
        _embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ],
}
