"""One request and its answer over the guarded network, redirects followed by hand.

Every hop is checked like the first. On another origin only what says nothing about the caller or the
operator is sent; no redirect makes a request do what it did not ask for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin

import httpcore2

from tools.backends.http_api.network import CONNECT_SECONDS
from tools.backends.http_api.outgoing import Answer, BadAddress, Outgoing, split_address
from tools.backends.http_api.record import Record
from tools.backends.http_api.request import percent_encoded
from tools.backends.http_api.unpacking import ACCEPTED, gather, gather_beginning
from tools.operations import SAFE_METHODS

MOST_REDIRECTS: Final = 5
MOST_BYTES: Final = 5_000_000
# Of what an API says about a failure, the beginning will do.
MOST_FAILURE_BYTES: Final = 65_536
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_HARMLESS: Final = frozenset({"accept", "accept-language", "content-type", "user-agent"})
_ABOUT_BODIES: Final = frozenset({"content-type", "content-encoding", "content-language"})
_OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "accept-encoding"})


class RedirectRefused(Exception):
    """The API sends the request somewhere it does not go. The message says why, for the caller."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What one attempt runs under.

    `pool` has the connections of `service`, which is only a name here; attempts count from 0. Answers
    of more than `most` bytes are refused. Unless it may `follow`, a redirect is an answer like any other;
    unless the `whole` answer is wanted, its beginning will do.
    """

    pool: httpcore2.AsyncConnectionPool
    service: str
    attempt: int
    most: int = MOST_BYTES
    follow: bool = True
    whole: bool = True


async def exchange(request: Outgoing, conditions: Conditions) -> Answer:
    """The last answer to `request`.

    Raises:
        RedirectRefused, AddressRefused, Unresolved, TooLarge, Undecodable: as they say.
        httpcore2.NetworkError and other errors of that package: no answer came.
    """
    for hop in range(MOST_REDIRECTS + 1):
        answer = await _send(request, conditions, hop)
        location = answer.headers.get("location", "")
        if answer.status not in _REDIRECTS or not location or not conditions.follow:
            return answer
        request = redirected(request, answer.status, location)
    raise RedirectRefused(f"it redirects more than {MOST_REDIRECTS} times")


async def _send(request: Outgoing, conditions: Conditions, hop: int) -> Answer:
    record = Record(conditions.service, request, conditions.attempt, hop, time.monotonic())
    try:
        answer = await _answer(request, conditions, record)
    except BaseException as fault:
        # Only its kind: texts of these can hold what was sent.
        record.write(failure=type(fault).__name__)
        raise
    record.write()
    return answer


async def _answer(request: Outgoing, conditions: Conditions, record: Record) -> Answer:
    origin = request.origin
    url = httpcore2.URL(
        scheme=origin.scheme, host=origin.host, port=origin.port, target=request.target
    )
    kept = [
        (name.encode(), value.encode())
        for name, value in request.headers.items()
        if name.lower() not in _OURS
    ]
    async with conditions.pool.stream(
        request.method,
        url,
        headers=[
            (b"Host", origin.authority.encode()),
            (b"Accept-Encoding", ACCEPTED.encode()),
            *kept,
        ],
        content=request.body,
        extensions={"timeout": {"connect": CONNECT_SECONDS}},
    ) as response:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers
        }
        record.status = response.status
        pieces = response.aiter_stream()
        if conditions.whole and request.method != "HEAD" and 200 <= response.status < 300:
            body = await gather(pieces, headers, conditions.most)
        else:
            body = await gather_beginning(pieces, headers, MOST_FAILURE_BYTES)
        record.size = len(body)
    return Answer(response.status, headers, body, request.public)


def redirected(request: Outgoing, status: int, location: str) -> Outgoing:
    """The request that follows `request` when it is answered with a redirect.

    Raises:
        RedirectRefused: it must not be followed.
    """
    # Headers are bytes; any above ASCII are UTF-8 in all likelihood.
    plain = location.partition("#")[0].encode("latin-1", "replace")
    try:
        address = urljoin(f"{request.origin}{request.target}", percent_encoded(plain))
        origin, parts = split_address(address)
    except (BadAddress, ValueError):
        raise RedirectRefused("it redirects to what is no address of a web server") from None
    if request.origin.scheme == "https" and origin.scheme == "http":
        raise RedirectRefused("it redirects to an address without encryption")
    elsewhere = origin != request.origin
    safe = request.method in SAFE_METHODS
    if not safe and (elsewhere or status == 301):
        raise RedirectRefused(
            f"it has moved ({status}), and {request.method} requests are not sent elsewhere"
        )
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {
        name: value
        for name, value in request.headers.items()
        if not elsewhere or name.lower() in _HARMLESS
    }
    following = replace(request, origin=origin, target=target, headers=headers)
    if safe or status in {307, 308}:
        return following
    # "See other": what was sent has been taken, the answer is to be fetched.
    kept = {name: value for name, value in headers.items() if name.lower() not in _ABOUT_BODIES}
    return replace(following, method="GET", headers=kept, body=None)
