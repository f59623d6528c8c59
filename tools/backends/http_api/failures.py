"""What goes wrong with an API, as the failures that callers see.

Retryable ones count against the API's breaker: time-outs, broken connections, its own faults. What
the caller or the operator has to put right does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tools.backends.http_api.outgoing import Answer, Outgoing
from tools.backends.http_api.saying import said
from tools.backends.http_api.waits import retry_after
from tools.errors import (
    ControlPlaneError,
    ErrorDetails,
    ExecutionFailed,
    InvalidArguments,
    RateLimited,
    TransportFault,
    UpstreamFailed,
)
from tools.operations import Service

# Told to callers when a refusing API does not say when to come back.
USUAL_WAIT: Final = 10.0
_BUSY: Final = frozenset({429, 502, 503, 504})


_ARGUMENTS: Final = (
    InvalidArguments,
    "refuses the arguments",
    "Change the arguments as the API asks",
)
_CREDENTIALS: Final = (
    ExecutionFailed,
    "does not let us do this",
    "Tell the operator to check the credentials of this API",
)
_NOTHING: Final = (
    ExecutionFailed,
    "has nothing there",
    "Check the names and ids in the arguments",
)
_REFUSALS: Final = {
    400: _ARGUMENTS,
    422: _ARGUMENTS,
    401: _CREDENTIALS,
    403: _CREDENTIALS,
    407: _CREDENTIALS,
    404: _NOTHING,
    410: _NOTHING,
}


class Failed(Exception):
    """One attempt failed. `again` tells whether another may go better, `wait` what the API asked for."""

    def __init__(
        self, error: ControlPlaneError, *, again: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(type(error).__name__)
        self.error = error
        self.again = again
        self.wait = wait


def refused(service: Service, request: Outgoing, answer: Answer) -> Failed:
    """The failure that an answer with a status of 300 and more is."""
    wait = retry_after(answer.headers.get("retry-after", ""))
    again = answer.status in _BUSY or (answer.status == 500 and request.method == "GET")
    error = _error(service, request, answer, wait)
    if isinstance(error, ExecutionFailed):
        error.upstream_status = answer.status
    return Failed(error, again=again, wait=wait)


def _error(
    service: Service, request: Outgoing, answer: Answer, wait: float | None
) -> ControlPlaneError:
    slug, status = service.slug, answer.status
    told = said(answer, request.secrets)
    because = f": {told}" if told else ""
    if status in _REFUSALS:
        kind, words, suggestion = _REFUSALS[status]
        return kind(
            f"The API {slug} {words} ({status}){because}", ErrorDetails(suggestion=suggestion)
        )
    if status == 429:
        return RateLimited(
            f"The API {slug} takes no more requests for now{because}",
            USUAL_WAIT if wait is None else wait,
        )
    if status >= 500 or status in {408, 425}:
        return _broken(f"The API {slug} failed ({status}){because}", wait)
    if status < 400:
        return sent_elsewhere(service, f"it answers with a redirect to nowhere ({status})")
    return ExecutionFailed(
        f"The API {slug} refuses the request ({status}){because}",
        ErrorDetails(suggestion="Change the request as the API says, or tell the operator"),
    )


def _broken(message: str, wait: float | None = None) -> UpstreamFailed:
    seconds = None if wait is None else max(1, round(wait))
    return UpstreamFailed(
        message,
        ErrorDetails(
            retry_after=seconds,
            suggestion="Try again later; if it stays so, tell the operator",
        ),
    )


def timed_out(service: Service) -> UpstreamFailed:
    """The API took longer than it is given."""
    seconds = f"{service.timeout_seconds:g} s"
    error = _broken(f"The API {service.slug} did not answer within {seconds}")
    error.details = replace(error.details, expected=f"an answer within {seconds}")
    error.upstream_seconds = service.timeout_seconds
    return error


def unreachable(service: Service, reason: str) -> TransportFault:
    """No connection came about."""
    return TransportFault(f"The API {service.slug} cannot be reached: {reason}", retry_after=5)


def hung_up(service: Service) -> UpstreamFailed:
    """The connection ended before the answer did."""
    return _broken(f"The API {service.slug} broke off the connection, or does not speak HTTP")


def garbage(service: Service, reason: str) -> UpstreamFailed:
    """The answer is not what it says it is."""
    return _broken(f"The API {service.slug} gave an answer that cannot be read: {reason}")


def too_large(service: Service, most: int) -> ExecutionFailed:
    """The answer is above the limit."""
    return ExecutionFailed(
        f"The API {service.slug} gave more than {most / 1e6:g} MB",
        ErrorDetails(
            expected=f"at most {most:,} bytes",
            suggestion="Ask for less: a page, a filter or fewer fields",
        ),
    )


def not_allowed(service: Service) -> ExecutionFailed:
    """The address is in a network that the service may not use."""
    return ExecutionFailed(
        f"The API {service.slug} is, or redirects to, an address that it may not be called at",
        ErrorDetails(
            suggestion="Tell the operator: private addresses need an allowed network at this API"
        ),
    )


def sent_elsewhere(service: Service, reason: str) -> ExecutionFailed:
    """A redirect that is not followed."""
    return ExecutionFailed(
        f"The API {service.slug} cannot be called: {reason}",
        ErrorDetails(suggestion="Tell the operator to check the address of this API"),
    )
