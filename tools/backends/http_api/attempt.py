"""One attempt at a request: within the service's own time limit, every failure told apart."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Final

import httpcore2

from tools.backends.http_api import failures
from tools.backends.http_api.addresses import AddressRefused, BadNetwork, Unresolved
from tools.backends.http_api.exchange import (
    MOST_BYTES,
    Conditions,
    RedirectRefused,
    exchange,
)
from tools.backends.http_api.failures import Failed
from tools.backends.http_api.network import Lines
from tools.backends.http_api.outgoing import Answer, Outgoing
from tools.backends.http_api.request import misconfigured
from tools.backends.http_api.unpacking import TooLarge, Undecodable
from tools.errors import ControlPlaneError
from tools.operations import Service

logger = logging.getLogger(__name__)

_NOT_TAKEN: Final = (
    AddressRefused,
    BadNetwork,
    RedirectRefused,
    TooLarge,
    Undecodable,
    httpcore2.LocalProtocolError,
)
_NO_ANSWER: Final = (
    Unresolved,
    httpcore2.NetworkError,
    httpcore2.RemoteProtocolError,
    httpcore2.TimeoutException,
)


async def attempt(lines: Lines, service: Service, request: Outgoing, number: int) -> Answer:
    """The answer of the API, if it is a good one.

    Raises:
        Failed: with what the caller is told.
    """
    try:
        async with asyncio.timeout(service.timeout_seconds), lines.use(service) as pool:
            answer = await exchange(request, Conditions(pool, service.slug, number))
    except TimeoutError:
        raise Failed(failures.timed_out(service)) from None
    except _NO_ANSWER as fault:
        raise _unanswered(service, fault) from None
    except _NOT_TAKEN as fault:
        raise Failed(_not_taken(service, fault)) from None
    if answer.status >= 300:
        raise failures.refused(service, request, answer)
    return answer


def _unanswered(service: Service, fault: Exception) -> Failed:
    """The failure of a request that may go better the next time."""
    if isinstance(fault, Unresolved):
        return Failed(failures.unreachable(service, "its name is not known"), again=True)
    if isinstance(fault, httpcore2.ConnectTimeout):
        return Failed(failures.unreachable(service, "no connection in time"), again=True)
    if not isinstance(fault, httpcore2.ConnectError):
        return Failed(failures.hung_up(service), again=True)
    if fault.args and isinstance(fault.args[0], ssl.SSLError):
        return Failed(failures.unreachable(service, "it does not prove that it is this host"))
    return Failed(failures.unreachable(service, "no connection"), again=True)


def _not_taken(service: Service, fault: Exception) -> ControlPlaneError:
    """The failure of a request or an answer that goes no further, now or later."""
    match fault:
        case AddressRefused():
            logger.warning("The API %s is not called: %s", service.slug, fault)
            return failures.not_allowed(service)
        case RedirectRefused():
            return failures.sent_elsewhere(service, str(fault))
        case TooLarge():
            return failures.too_large(service, MOST_BYTES)
        case Undecodable():
            return failures.garbage(service, str(fault))
        case BadNetwork():
            return misconfigured(service, str(fault))
    # Without the fault's own words, which can hold what was sent.
    return misconfigured(service, "its requests break the rules of HTTP")
