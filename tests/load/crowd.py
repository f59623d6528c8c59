"""Many SDK clients in a process of their own.

    python -m tests.load.crowd URL TRANSPORT MODE CLIENTS

It connects them all and then does what it is told, one line of JSON each way: `{"calls": SECONDS}`
makes every client call one tool after the other for that long, `{"meet": SECONDS}` makes each
call once, all at the same time, and `{"leave": true}` disconnects them and ends it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

from mcp import Client

from tests.load.hands import next_order, say
from tests.tools.mcp_server.clients import Way, connected

BIG = {"rows": [{"id": number, "text": "some words of a row " * 4} for number in range(100)]}


class Crowd:
    """The clients, the ids of the calls they made, and what went wrong."""

    def __init__(self, url: str, way: Way) -> None:
        self._url = url
        self._way = way
        self._clients: list[Client] = []
        # Making a client is work for this process; too many at once would time out on each other.
        self._room = asyncio.Semaphore(5)
        self._leaving = asyncio.Event()
        self._ids: list[str] = []
        self._faults: list[str] = []
        self._seconds: list[float] = []

    async def visit(self, arrived: asyncio.Barrier) -> None:
        """Be there as one more client until all leave, and listen to changes meanwhile."""
        async with AsyncExitStack() as stack:
            async with self._room:
                client = await stack.enter_async_context(connected(self._url, self._way))
                # Clients of the handshake era listen without being told to.
                if self._way.mode == "auto":
                    await stack.enter_async_context(client.listen(tools_list_changed=True))
            self._clients.append(client)
            await arrived.wait()
            await self._leaving.wait()

    def leave(self) -> None:
        self._leaving.set()

    async def calls(self, seconds: float) -> dict[str, Any]:
        limit = time.monotonic() + seconds
        await asyncio.gather(*(self._keep_calling(client, limit) for client in self._clients))
        return self._report()

    async def meet(self, seconds: float) -> dict[str, Any]:
        together = (self._call(client, {"delay": seconds}) for client in self._clients)
        await asyncio.gather(*together)
        return self._report()

    async def _keep_calling(self, client: Client, limit: float) -> None:
        number = 0
        while time.monotonic() < limit:
            number += 1
            if number % 20 == 0:
                await client.list_tools()
            await self._call(client, {"result": BIG} if number % 10 == 0 else {"n": number})

    async def _call(self, client: Client, arguments: dict[str, Any]) -> None:
        began = time.monotonic()
        try:
            result = await client.call_tool("echo", arguments)
        except Exception as fault:  # noqa: BLE001 - whatever goes wrong is to be reported
            self._faults.append(repr(fault)[:300])
            return
        self._seconds.append(time.monotonic() - began)
        if result.is_error or result.structured_content is None or result.meta is None:
            self._faults.append(str(result.content)[:300])
        else:
            self._ids.append(result.meta["request_id"])

    def _report(self) -> dict[str, Any]:
        told = {"ids": self._ids, "faults": self._faults, "seconds": self._seconds}
        self._ids, self._faults, self._seconds = [], [], []
        return told


async def main(url: str, transport: str, mode: str, clients: int) -> None:
    """Connect, then follow the orders."""
    crowd, arrived = Crowd(url, Way(transport, mode)), asyncio.Barrier(clients + 1)
    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(crowd.visit(arrived))
        await arrived.wait()
        say({"connected": clients})
        while "leave" not in (order := await next_order()):
            ((name, seconds),) = order.items()
            say(await getattr(crowd, name)(seconds))
        crowd.leave()
    say({"left": clients})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
