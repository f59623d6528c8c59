"""The single reply shape: a result or an error becomes an Envelope."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from tools.contracts import Envelope, failure_envelope
from tools.errors import ControlPlaneError
from tools.execution.passing import Passed


def success(
    passed: Passed, request_id: uuid.UUID, meta: Mapping[str, Any], encoded: str | None = None
) -> Envelope:
    """The answer of a call that worked. Lists and scalars are wrapped: `data` is always an object.

    `encoded` is `data` as JSON, if it was encoded before.
    """
    data = passed.data
    if not isinstance(data, Mapping):
        data, encoded = {"result": data}, None if encoded is None else f'{{"result":{encoded}}}'
    return Envelope(
        request_id=request_id,
        success=True,
        data=data,
        meta=meta,
        encoded=encoded,
        result=passed.result,
        media=() if passed.result is not None else passed.media,
    )


def asking(asked: Mapping[str, Any], request_id: uuid.UUID, meta: Mapping[str, Any]) -> Envelope:
    """The answer of a call that first needs answers itself."""
    words = {"input_required": sorted(asked.get("inputRequests", {}))}
    return Envelope(request_id=request_id, success=True, data=words, meta=meta, asked=asked)


def failure(error: ControlPlaneError, request_id: uuid.UUID, meta: Mapping[str, Any]) -> Envelope:
    """The answer of a call that did not."""
    return failure_envelope(error, request_id, meta)
