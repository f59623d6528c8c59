"""One request of the NSIP API, and its failures in the words that NSIP tools use for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from tools.backends.http_api.adapters.nsip_arguments import EXAMPLE_LPN_ID
from tools.backends.http_api.adapters.nsip_endpoints import Endpoint
from tools.backends.http_api.fetching import Fetch
from tools.errors import (
    ControlPlaneError,
    DeadlineExceeded,
    ErrorDetails,
    ExecutionFailed,
    InvalidArguments,
    NsipApiFailed,
    RateLimited,
)
from tools.schemas import shown

LONGEST_REASON: Final = 300
UNKNOWN_SHAPE: Final = "the answer is not one that this endpoint gives"
# How the backend writes down answers that are not JSON; NSIP never answers such keys itself.
NOT_JSON: Final = frozenset({"text", "sha256"})

_T = TypeVar("_T")


async def ask(
    fetch: Fetch,
    endpoint: Endpoint,
    arguments: Mapping[str, Any],
    read: Callable[[Any], _T],
    searched: tuple[str, str] = ("", ""),
) -> _T:
    """What `read` makes of the answer. `searched` is the argument that names an animal, and its value.

    Raises:
        ExecutionFailed: there is no such animal, or the API refused the request.
        NsipApiFailed: the API failed, or answered what cannot be read.
        RateLimited: the API wants fewer requests.
    """
    try:
        data = await fetch(endpoint.operation, arguments)
    except ControlPlaneError as failure:
        raise _named(endpoint.method, failure, searched) from failure
    if isinstance(data, Mapping):
        _check(endpoint.method, data)
    try:
        return read(data)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as fault:
        raise NsipApiFailed(endpoint.method, UNKNOWN_SHAPE) from fault


def object_of(data: Any) -> dict[str, Any]:
    """An answer that is passed on as it is. Raises TypeError for what is no object."""
    if not isinstance(data, Mapping):
        raise TypeError("an object is expected")
    return dict(data)


def not_found(parameter: str, value: str) -> ExecutionFailed:
    """The failure of a search for one animal."""
    return ExecutionFailed(
        f"NSIP has no animal {shown(value)}",
        ErrorDetails(
            parameter=parameter,
            value=shown(value),
            expected="the LPN id of an animal in the database",
            suggestion=f"Check the number (an LPN id looks like {EXAMPLE_LPN_ID}), or find the "
            "animal with nsip_search_animals",
        ),
    )


def _check(method: str, data: Mapping[str, Any]) -> None:
    if data.get("success") is False:
        told = data.get("message") or data.get("Message") or "the API reports a failure"
        raise NsipApiFailed(method, str(told)[:LONGEST_REASON])
    if NOT_JSON & data.keys():
        raise NsipApiFailed(method, UNKNOWN_SHAPE)


def _named(method: str, failure: ControlPlaneError, searched: tuple[str, str]) -> ControlPlaneError:
    if isinstance(failure, RateLimited | DeadlineExceeded | InvalidArguments):
        return failure
    reason = "; ".join(filter(None, (failure.message, failure.details.suggestion)))
    if isinstance(failure, ExecutionFailed):
        if failure.upstream_status == 404 and searched[0]:
            return not_found(*searched)
        if failure.upstream_seconds is not None:
            reason = f"Connection timeout after {failure.upstream_seconds:g}s"
    named = NsipApiFailed(method, reason[:LONGEST_REASON])
    # The breaker counts what may go away by itself; a refused request says nothing about NSIP.
    return named if failure.retryable else ExecutionFailed(named.message, named.details)
