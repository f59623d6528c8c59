"""The single reply shape: a result or an error becomes an Envelope."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from tools.contracts import Envelope, failure_envelope
from tools.errors import ControlPlaneError


def success(
    data: Any, request_id: uuid.UUID, meta: Mapping[str, Any], encoded: str | None = None
) -> Envelope:
    """The answer of a call that worked. Lists and scalars are wrapped: `data` is always an object.

    `encoded` is `data` as JSON, if it was encoded before.
    """
    if not isinstance(data, Mapping):
        data, encoded = {"result": data}, None if encoded is None else f'{{"result":{encoded}}}'
    return Envelope(request_id=request_id, success=True, data=data, meta=meta, encoded=encoded)


def failure(error: ControlPlaneError, request_id: uuid.UUID, meta: Mapping[str, Any]) -> Envelope:
    """The answer of a call that did not."""
    return failure_envelope(error, request_id, meta)
