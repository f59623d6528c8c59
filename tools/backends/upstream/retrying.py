"""Asking a server, again where that is safe.

A server that restarted or forgot the session has not done what was asked: it is met anew and asked
once more, whatever the tool does. A connection that fails is tried again only for tools that may be
repeated, after 1, 2 and 4 seconds, within the call's deadline. A server that is not there when the
call comes is not waited for, so that callers hear of it at once; nor is one that does not speak MCP. An
answer that makes no sense is an answer.
"""

from __future__ import annotations

import time
from asyncio import sleep
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from tools.backends.upstream.channel import ChannelFault, Garbage, Refused, SessionExpired
from tools.backends.upstream.connection import Connection, Down
from tools.backends.upstream.session import Session
from tools.contracts import Deadline
from tools.errors import ReportedByTool, UpstreamFailed

DELAYS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
# Kept back of a call's time, so that it ends with what is known of the server, not with a time-out.
SPARE_SECONDS: Final = 0.05

_T = TypeVar("_T")
Work = Callable[[Session], Awaitable[_T]]


async def persist(
    connection: Connection, work: Work[_T], deadline: Deadline, *, repeatable: bool
) -> _T:
    """What `work` gives, on a session of `connection`.

    Raises:
        ChannelFault: the last failure, when trying again is of no use or not safe.
        RpcError: the server answered with an error.
    """
    retries = connection.upstream.retries if repeatable else 0
    for number, delay in enumerate(DELAYS[:retries]):
        try:
            return await _meet_and_ask(connection, work, deadline)
        except (Refused, Garbage):
            raise
        except ChannelFault as fault:
            absent = isinstance(fault, Down) and (number == 0 or fault.settled)
            if absent or deadline.remaining() <= delay:
                raise
        await sleep(delay)
    return await _meet_and_ask(connection, work, deadline)


async def _meet_and_ask(connection: Connection, work: Work[_T], deadline: Deadline) -> _T:
    session = await connection.session(_patience(deadline))
    try:
        return await _ask(connection, session, work)
    except Down:
        raise
    except ChannelFault as fault:
        if fault.sent:
            raise
    return await _ask(connection, await connection.session(_patience(deadline)), work)


def _patience(deadline: Deadline) -> float:
    return max(0.0, deadline.remaining() - SPARE_SECONDS)


async def _ask(connection: Connection, session: Session, work: Work[_T]) -> _T:
    connection.in_use += 1
    try:
        result = await work(session)
    except (Refused, Garbage) as fault:
        # It is there, and answers; meeting it again would change nothing.
        connection.failed(str(fault))
        raise
    except SessionExpired as fault:
        connection.lose(session, str(fault))
        raise
    except ChannelFault as fault:
        connection.failed(str(fault))
        connection.lose(session, str(fault))
        raise
    except ReportedByTool:
        # The tool could not do it, but the server did its part.
        connection.succeeded()
        raise
    except UpstreamFailed as fault:
        connection.failed(fault.message)
        raise
    finally:
        connection.in_use -= 1
        connection.used_at = time.monotonic()
    connection.succeeded()
    return result
