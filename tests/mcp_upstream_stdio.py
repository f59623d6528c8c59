"""The scriptable upstream as a child: one message per line in each direction."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from tests.mcp_upstream_peer import Client, Message, Peer
from tests.mcp_upstream_tools import Garbage

LIMIT = 1 << 24


async def serve(peer: Peer) -> None:
    """Serve until the client closes our input."""
    if peer.folder.switches().refuse:
        sys.stderr.write("The server does not want to start.\n")
        sys.exit(1)
    reader = asyncio.StreamReader(LIMIT)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    client = Client()
    running: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        message = json.loads(line)
        if "id" in message and "method" in message:
            task = loop.create_task(_answer(peer, message, client))
            running.add(task)
            task.add_done_callback(running.discard)
        elif message.get("method") == "notifications/initialized":
            # Clients without sessions hear of changes where they subscribe.
            peer.subscribe(client, _write)
        else:
            peer.heard(message, client)


async def _answer(peer: Peer, request: Message, client: Client) -> None:
    try:
        if peer.folder.switches().garbage:
            raise Garbage
        await _write(await peer.answer(request, client, _write))
    except Garbage:
        sys.stdout.write("this is not JSON\n" * 30)
        sys.stdout.flush()


async def _write(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
