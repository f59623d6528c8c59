"""Answers one after the other, and what a client that follows the rules waits between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

GOOD: Final[dict[str, Any]] = {"success": True, "data": {"done": True}, "request_id": "1"}


@dataclass(frozen=True, slots=True)
class Case:
    """What the service answers, and the pauses that follow. `code` is how it ends; empty: well."""

    answers: tuple[tuple[int, Any, dict[str, str]], ...]
    waits: tuple[float, ...]
    code: str = ""


def bad(status: int, code: str, **headers: str) -> tuple[int, Any, dict[str, str]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"success": False, "error": "No.", "code": code, "request_id": "1"}, named


def _always(status: int, code: str, times: int, **headers: str) -> tuple[Any, ...]:
    return (bad(status, code, **headers),) * times


CASES: Final = {
    "not found": Case(_always(404, "TOOL_NOT_FOUND", 1), (), "TOOL_NOT_FOUND"),
    "invalid": Case(_always(400, "INVALID_ARGUMENTS", 1), (), "INVALID_ARGUMENTS"),
    "no key": Case(_always(401, "INVALID_ARGUMENTS", 1), (), "INVALID_ARGUMENTS"),
    "failing": Case(_always(500, "EXECUTION_ERROR", 5), (1, 2, 4, 8), "EXECUTION_ERROR"),
    "bug": Case(_always(500, "INTERNAL_ERROR", 5, Retry_After="9"), (1, 2, 4, 8), "INTERNAL_ERROR"),
    "limited": Case(_always(429, "RATE_LIMITED", 4, Retry_After="3"), (3, 3, 3), "RATE_LIMITED"),
    "away": Case(
        _always(503, "SERVICE_UNAVAILABLE", 4, Retry_After="5"), (5, 5, 5), "SERVICE_UNAVAILABLE"
    ),
    "silent": Case(_always(503, "SERVICE_UNAVAILABLE", 4), (1, 2, 4), "SERVICE_UNAVAILABLE"),
    "for hours": Case(
        _always(503, "SERVICE_UNAVAILABLE", 1, Retry_After="7200"), (), "SERVICE_UNAVAILABLE"
    ),
    "past": Case(
        _always(503, "SERVICE_UNAVAILABLE", 4, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
        (0, 0, 0),
        "SERVICE_UNAVAILABLE",
    ),
    "slow": Case(_always(504, "TIMEOUT", 3), (0, 0), "TIMEOUT"),
    # A gateway: the service may have gone away in the middle of the call.
    "page": Case(((502, "<html>", {}),), (), "SERVICE_UNAVAILABLE"),
    "busy gateway": Case(((503, "<html>", {}),) * 4, (1, 2, 4), "SERVICE_UNAVAILABLE"),
    "nonsense": Case(((200, "hello", {}),), (), "INTERNAL_ERROR"),
    "recovers": Case(
        (bad(500, "EXECUTION_ERROR"), bad(429, "RATE_LIMITED", Retry_After="2"), (200, GOOD, {})),
        (1, 2),
    ),
}
