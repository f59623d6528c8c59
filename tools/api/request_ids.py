"""The request id a caller may send: in the body, or in the X-Request-ID header."""

from __future__ import annotations

import re
import uuid
from typing import Any

from tools.errors import ErrorDetails, InvalidArguments

UUID_TEXT = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z", re.I
)


def parse_request_id(value: Any) -> uuid.UUID | None:
    """`value` as a version 4 UUID; None when it is anything else."""
    if isinstance(value, str) and UUID_TEXT.match(value):
        return uuid.UUID(value)
    return None


def given_request_id(request: Any) -> uuid.UUID | None:
    """The id of the X-Request-ID header, if it is one."""
    return parse_request_id(request.META.get("HTTP_X_REQUEST_ID", ""))


def bad_request_id(value: Any) -> InvalidArguments:
    """The refusal of an id that is no version 4 UUID."""
    return InvalidArguments(
        "Invalid parameter: request_id",
        ErrorDetails(
            parameter="request_id",
            value=str(value)[:100],
            expected="a version 4 UUID",
            suggestion="Leave request_id out, or send a version 4 UUID",
        ),
    )
