"""JSON answers; ones that are already bytes go out as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer
from typing_extensions import override


class EncodedJSONRenderer(JSONRenderer):
    """DRF's JSON renderer, letting through what was encoded once for many answers."""

    @override
    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if isinstance(data, bytes):
            return data
        return super().render(data, accepted_media_type, renderer_context)
