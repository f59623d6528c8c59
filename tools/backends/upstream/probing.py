"""A look at a server outside of calls: connect, list everything, hang up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.discovery import discover, list_tools
from tools.backends.upstream.session import RpcError, Session
from tools.errors import TransportFault, UpstreamFailed
from tools.upstreams import Discovered, Upstream

LIST_FACTOR = 3


async def probe(
    upstream: Upstream, heard: Callable[[Sequence[str]], None] | None = None
) -> Discovered:
    """What `upstream` offers now. `heard` is given what a child wrote to its error output.

    Raises:
        ControlPlaneError: it cannot be reached or does not answer; the message is for operators.
    """
    began = time.monotonic()
    session = Session(upstream, lambda: None)
    limit = upstream.connect_timeout
    try:
        async with asyncio.timeout(limit):
            await session.open()
        seconds = time.monotonic() - began
        async with asyncio.timeout(LIST_FACTOR * limit):
            return await discover(session, await list_tools(session), seconds)
    except TimeoutError as fault:
        raise TransportFault(f"{upstream.name} did not answer within {limit:g} s", 5) from fault
    except ChannelFault as fault:
        raise TransportFault(f"{upstream.name} cannot be reached: {fault}", 5) from fault
    except RpcError as error:
        raise UpstreamFailed(
            f"{upstream.name} refused to list what it offers: {error.message[:300]}"
        ) from error
    finally:
        await asyncio.shield(session.close())
        if heard is not None:
            heard(session.channel.error_lines)
