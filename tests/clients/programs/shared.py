"""What every client program does: take its orders, use each transport, print what it saw.

Orders are one JSON argument: the address of the server, the command of a stdio one, and which
transports to use. For each of them one line of JSON is printed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

WORD = {"word": "héllo"}
FAIL = {"fail": "execution"}
TOPIC = {"topic": "sheep"}
RESOURCE = "docs://guide"


@dataclass(frozen=True)
class Orders:
    """Where the server is, and how it is to be reached."""

    url: str
    command: str
    args: list[str]
    env: dict[str, str]
    transports: list[str]

    @property
    def websocket(self) -> str:
        return self.url.replace("http://", "ws://", 1) + "/ws"


def orders() -> Orders:
    return Orders(**json.loads(sys.argv[1]))


def run(visit: Callable[[str], Awaitable[dict[str, Any]]]) -> None:
    """Visit the server over each transport; what goes wrong is printed as well."""

    async def visit_all() -> None:
        for transport in orders().transports:
            try:
                seen = await asyncio.wait_for(visit(transport), 60)
            except Exception:  # noqa: BLE001 - whatever a client raises is what the test shows
                seen = {"error": traceback.format_exc()}
            sys.stdout.write(json.dumps({"transport": transport, **seen}) + "\n")
            sys.stdout.flush()

    asyncio.run(visit_all())


def parsed(text: str) -> Any:
    """The JSON in a text block, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
