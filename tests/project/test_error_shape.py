"""Every error class has a code, a status and a shape that callers can rely on."""

from __future__ import annotations

import uuid

import pytest

from tests.faults.failures import failures
from tools import errors
from tools.contracts import failure_envelope
from tools.errors import ControlPlaneError, ErrorCode, ErrorDetails, McpKind

EXPECTED = {
    "InvalidArguments": (ErrorCode.INVALID_ARGUMENTS, 400),
    "MalformedRequest": (ErrorCode.INVALID_ARGUMENTS, 400),
    "InvalidMessage": (ErrorCode.INVALID_ARGUMENTS, 400),
    "Unauthenticated": (ErrorCode.INVALID_ARGUMENTS, 401),
    "InsufficientScope": (ErrorCode.INVALID_ARGUMENTS, 403),
    "ForbiddenOrigin": (ErrorCode.INVALID_ARGUMENTS, 403),
    "NotPermitted": (ErrorCode.INVALID_ARGUMENTS, 403),
    "MethodNotAllowed": (ErrorCode.INVALID_ARGUMENTS, 405),
    "NotAcceptable": (ErrorCode.INVALID_ARGUMENTS, 406),
    "Conflict": (ErrorCode.INVALID_ARGUMENTS, 409),
    "BodyTooLarge": (ErrorCode.INVALID_ARGUMENTS, 413),
    "UnsupportedMediaType": (ErrorCode.INVALID_ARGUMENTS, 415),
    "ToolNotFound": (ErrorCode.TOOL_NOT_FOUND, 404),
    "PathNotFound": (ErrorCode.TOOL_NOT_FOUND, 404),
    "PromptNotFound": (ErrorCode.TOOL_NOT_FOUND, 404),
    "ResourceNotFound": (ErrorCode.TOOL_NOT_FOUND, 404),
    "RateLimited": (ErrorCode.RATE_LIMITED, 429),
    "ConcurrencyExceeded": (ErrorCode.RATE_LIMITED, 429),
    "ServiceUnavailable": (ErrorCode.SERVICE_UNAVAILABLE, 503),
    "Starting": (ErrorCode.SERVICE_UNAVAILABLE, 503),
    "Stopping": (ErrorCode.SERVICE_UNAVAILABLE, 503),
    "BreakerOpen": (ErrorCode.SERVICE_UNAVAILABLE, 503),
    "TransportFault": (ErrorCode.SERVICE_UNAVAILABLE, 503),
    "HeldBack": (ErrorCode.SERVICE_UNAVAILABLE, 503),
    "ConnectionLimitExceeded": (ErrorCode.SERVICE_UNAVAILABLE, 503),
    "DeadlineExceeded": (ErrorCode.TIMEOUT, 504),
    "ExecutionFailed": (ErrorCode.EXECUTION_ERROR, 500),
    "ReportedByTool": (ErrorCode.EXECUTION_ERROR, 500),
    "UpstreamFailed": (ErrorCode.EXECUTION_ERROR, 500),
    "NsipApiFailed": (ErrorCode.EXECUTION_ERROR, 500),
    "SummarizationFailed": (ErrorCode.EXECUTION_ERROR, 500),
    "TokenCountingFailed": (ErrorCode.EXECUTION_ERROR, 500),
    "InternalFault": (ErrorCode.INTERNAL_ERROR, 500),
}


def subclasses(base: type[ControlPlaneError]) -> list[type[ControlPlaneError]]:
    found = []
    for child in base.__subclasses__():
        found += [child, *subclasses(child)]
    return found


def built(kind: type[ControlPlaneError]) -> ControlPlaneError:
    return failures()[kind.__name__]


def test_every_class_of_the_tree_is_mapped() -> None:
    # S3-012 S3-013 S3-014 S3-015 S3-016 S3-017 S3-018 F3-02
    tree = {kind.__name__: (kind.code, kind.http_status) for kind in subclasses(ControlPlaneError)}
    assert tree == EXPECTED


def test_the_docstring_draws_the_whole_tree() -> None:
    for name, (_, status) in EXPECTED.items():
        assert f"{name} " in (errors.__doc__ or "")
        assert str(status) in (errors.__doc__ or "")


def test_the_codes_are_a_closed_set_of_seven() -> None:
    # S3-019 C15
    assert {code.value for code in ErrorCode} == {
        "TOOL_NOT_FOUND",
        "INVALID_ARGUMENTS",
        "EXECUTION_ERROR",
        "INTERNAL_ERROR",
        "TIMEOUT",
        "RATE_LIMITED",
        "SERVICE_UNAVAILABLE",
    }


@pytest.mark.parametrize("kind", subclasses(ControlPlaneError), ids=lambda kind: kind.__name__)
def test_every_error_becomes_a_valid_envelope(kind: type[ControlPlaneError]) -> None:
    # S3-004 F3-02
    error = built(kind)
    envelope = failure_envelope(error, uuid.uuid4())
    wire = envelope.to_wire()
    assert wire["success"] is False
    assert wire["error"]
    assert wire["code"] == kind.code
    assert envelope.http_status == kind.http_status
    assert "data" not in wire
    assert kind.mcp_kind in set(McpKind)


@pytest.mark.parametrize(
    "kind",
    [kind for kind in subclasses(ControlPlaneError) if kind.http_status in {429, 503}],
    ids=lambda kind: kind.__name__,
)
def test_errors_that_pass_say_when_to_come_back(kind: type[ControlPlaneError]) -> None:
    # F3-31 F3-32
    error = built(kind)
    assert int(error.headers["Retry-After"]) >= 1
    assert error.details.to_wire()["retry_after"] >= 1


def test_details_without_a_value_do_not_travel() -> None:
    # S4-066
    assert ErrorDetails(parameter="q").to_wire() == {"parameter": "q"}


def test_a_failed_nsip_call_says_what_to_check() -> None:
    # S4-069
    error = errors.NsipApiFailed("get_lineage", "Connection refused")
    assert error.message == "NSIP API call failed: get_lineage"
    assert error.mcp_code == -32000
    assert error.details.to_wire() == {
        "parameter": "method",
        "value": "get_lineage",
        "suggestion": "Check NSIP API availability and parameters: Connection refused",
    }
