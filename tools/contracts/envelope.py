"""The one shape every answer has."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tools.contracts.times import wire_time
from tools.errors import ControlPlaneError, ErrorCode, InternalFault


@dataclass(frozen=True, slots=True)
class Envelope:
    """The one shape every answer has."""

    request_id: uuid.UUID
    success: bool
    data: Mapping[str, Any] | None = None
    error: str | None = None
    code: ErrorCode | None = None
    http_status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    failure: ControlPlaneError | None = None
    # `data` as JSON, where it was encoded on the way already.
    encoded: str | None = field(default=None, repr=False)
    # The result of an upstream server as it wrote it, for the doors that speak its protocol.
    result: Mapping[str, Any] | None = field(default=None, repr=False)
    # Blocks of it that are never cut, where `data` was shortened.
    media: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    # What the caller has to answer before it calls again; `data` says so in words.
    asked: Mapping[str, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.request_id.version != 4:
            raise ValueError("request_id must be a version 4 UUID")
        if self.success and (self.data is None or self.error or self.code):
            raise ValueError("a success has data and neither error nor code")
        if not self.success and (not self.error or self.code is None or self.data is not None):
            raise ValueError("a failure has error and code and no data")
        elapsed = self.meta.get("execution_time_ms", 0)
        if type(elapsed) is not int or elapsed < 0:
            raise ValueError("execution_time_ms must be a whole number, not negative")

    def to_wire(self) -> dict[str, Any]:
        """The envelope as JSON; keys without a value are left out."""
        wire: dict[str, Any] = {"success": self.success}
        if self.success:
            wire["data"] = (
                {**(self.data or {}), "media": list(self.media)} if self.media else self.data
            )
        else:
            wire["error"] = self.error
            wire["code"] = str(self.code)
        wire["request_id"] = str(self.request_id)
        wire["timestamp"] = wire_time(self.timestamp)
        if self.meta:
            wire["meta"] = dict(self.meta)
        return wire

    def to_bytes(self) -> bytes:
        """The envelope as the bytes of a JSON answer, without encoding `data` a second time."""
        wire = self.to_wire()
        if self.encoded is None or self.media:
            return json.dumps(wire, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        del wire["data"], wire["success"]
        rest = json.dumps(wire, separators=(",", ":"))
        return f'{{"success":true,"data":{self.encoded},{rest[1:]}'.encode()


def failure_envelope(
    error: ControlPlaneError, request_id: uuid.UUID, meta: Mapping[str, Any] | None = None
) -> Envelope:
    """The answer that tells a caller about `error`."""
    details = error.details.to_wire()
    return Envelope(
        request_id=request_id,
        success=False,
        error=error.message,
        code=error.code,
        http_status=error.http_status,
        headers=error.headers,
        meta={**(meta or {}), **({"details": details} if details else {})},
        failure=error,
    )


def internal_failure(request_id: uuid.UUID) -> Envelope:
    """The answer for a fault nobody foresaw; its cause is in the log under the request id."""
    return failure_envelope(InternalFault(), request_id)
