"""Every exception of the REST door as an envelope. DRF's own are translated to our tree first."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import DisallowedHost, RequestDataTooBig, SuspiciousOperation
from rest_framework import exceptions
from rest_framework.response import Response

from tools.api.request_ids import given_request_id
from tools.conf import deployment
from tools.contracts import Envelope, failure_envelope
from tools.errors import (
    BodyTooLarge,
    ControlPlaneError,
    ErrorDetails,
    InternalFault,
    MalformedRequest,
    MethodNotAllowed,
    NotAcceptable,
    PathNotFound,
    UnsupportedMediaType,
)

logger = logging.getLogger(__name__)


def to_envelope(error: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's exception handler."""
    request = context.get("request")
    request_id = given_request_id(request) if request is not None else None
    return respond(envelope_of(error, request_id or uuid.uuid4()))


def envelope_of(error: Exception, request_id: uuid.UUID) -> Envelope:
    """The envelope that tells a caller about `error`; what nobody foresaw is logged, not shown."""
    known = translate(error)
    if known is None:
        logger.error("Request %s failed on a bug", request_id, exc_info=error)
        known = InternalFault()
    return failure_envelope(known, request_id)


def respond(envelope: Envelope) -> Response:
    """An envelope as a DRF response."""
    return Response(
        envelope.to_bytes(),
        status=envelope.http_status,
        headers={**envelope.headers, "X-Request-ID": str(envelope.request_id)},
    )


def translate(error: Exception) -> ControlPlaneError | None:  # noqa: PLR0911 - one line per kind
    """`error` in our own tree; None for what is a bug."""
    match error:
        case ControlPlaneError():
            return error
        case exceptions.UnsupportedMediaType():
            return UnsupportedMediaType(
                "The body must be JSON",
                ErrorDetails(
                    parameter="Content-Type",
                    expected="application/json",
                    suggestion="Send the header Content-Type: application/json",
                ),
            )
        case exceptions.NotAcceptable():
            return NotAcceptable(
                "Answers are JSON only",
                ErrorDetails(parameter="Accept", expected="application/json"),
            )
        case exceptions.MethodNotAllowed():
            return MethodNotAllowed("this", ("GET", "POST"))
        case exceptions.ParseError():
            return MalformedRequest("The request cannot be read")
        case exceptions.NotFound():
            return PathNotFound("There is nothing at this address")
        case RequestDataTooBig():
            return body_too_large()
        case DisallowedHost():
            return MalformedRequest(
                "The Host header names a host this service does not answer to",
                ErrorDetails(
                    parameter="Host", suggestion="Ask the operator to add it to ALLOWED_HOSTS"
                ),
            )
        case SuspiciousOperation():
            return MalformedRequest("The request cannot be read")
    return None


def body_too_large(limit: int | None = None) -> BodyTooLarge:
    """The refusal of a body over `limit`, or over that of ordinary ones."""
    limit = limit or deployment().max_body_bytes
    return BodyTooLarge(
        f"The body is larger than {limit} bytes",
        ErrorDetails(expected=f"at most {limit} bytes", suggestion="Send less in one call"),
    )
