"""The whole control plane with servers behind it that can be made to fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import redis
from django.conf import settings

from tests.doors import RestDoor, free_port
from tests.mcp_upstream import Record, http_upstream, stdio_entry
from tests.mcp_upstream_offer import tools
from tests.mcp_upstream_peer import INFO
from tests.mcp_upstream_state import Switches
from tests.processes import wait_until
from tests.upstream_rows import make_upstream
from tests.workers import database_url
from tools.models import UpstreamServer
from tools.services.sync_upstream import record_discovery
from tools.upstreams import Discovered

LOOPBACK: Final = ["127.0.0.0/8"]
TRANSPORTS: Final = ("http", "stdio")


def registered(slug: str, **columns: Any) -> UpstreamServer:
    """A row of a server that offers what the scriptable one does; it need not run for that."""
    row = make_upstream(slug=slug, **columns)
    record_discovery(slug, Discovered("2026-07-28", INFO, tools=tuple(tools(Switches()))))
    return row


@contextmanager
def behind(folder: Path, transport: str, slug: str = "trial", **columns: Any) -> Iterator[Any]:
    """A server behind the control plane: the hand on its switches. `switches` are set before."""
    switches = columns.pop("switches", {})
    folder = folder / slug
    if transport == "stdio":
        folder.mkdir(exist_ok=True)
        Record(folder).set(**switches)
        commands = settings.CONTROL_PLANE["UPSTREAM_COMMANDS"]
        commands[slug] = stdio_entry(folder)
        registered(slug, transport="stdio", command=slug, url="", **columns)
        try:
            yield Record(folder)
        finally:
            del commands[slug]
        return
    with http_upstream(folder, **switches) as hand:
        registered(slug, url=hand.url, allowed_networks=LOOPBACK, **columns)
        yield hand


@dataclass(frozen=True)
class Reply:
    """What a caller got, and after how many seconds."""

    status: int
    body: dict[str, Any]
    seconds: float
    retry_after: str

    @property
    def code(self) -> str:
        return str(self.body.get("code", ""))

    @property
    def message(self) -> str:
        return str(self.body["error"])

    @property
    def suggestion(self) -> str:
        return str(self.body["meta"]["details"]["suggestion"])


def call(place: RestDoor | str, tool: str, **arguments: Any) -> Reply:
    """One call through a door, or through the process at an address."""
    body = {"tool": tool, "arguments": arguments}
    began = time.monotonic()
    if isinstance(place, RestDoor):
        answer = place.client.post("/call-tool", json=body)
    else:
        answer = httpx2.post(f"{place}/call-tool", json=body, timeout=30)
    seconds = time.monotonic() - began
    given = answer.headers.get("retry-after", "")
    return Reply(answer.status_code, answer.json(), seconds, given)


def at_once(*calls: Callable[[], Reply]) -> list[Reply]:
    """The replies to calls that are made at the same time."""
    replies: dict[int, Reply] = {}

    def one(number: int, work: Callable[[], Reply]) -> None:
        replies[number] = work()

    threads = [threading.Thread(target=one, args=given) for given in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [replies[number] for number in range(len(calls))]


def breaker_of(slug: str = "trial") -> dict[str, str]:
    """The breaker of a server as Redis has it; empty before the first call."""
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:
        found: dict[str, str] = client.hgetall(f"cp:breaker:mcp:{slug}")
    return found


def wait_for_state(door: RestDoor, state: str, slug: str = "trial") -> None:
    """Until the process of the door has told that its connection is in that state."""

    def told() -> bool:
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            reports = client.hvals(f"cp:upstream:{slug}")
        return any(json.loads(one)["lifecycle"] == state for one in reports)

    wait_until(told, what=f"a connection to {slug} that is {state}")


@contextmanager
def web_process(log: Path, **environment: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """One more web process on the database and the Redis of the suite, and its address."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "uvicorn", "controlplane.asgi:application"),
        *("--host", "127.0.0.1", "--port", str(port), "--lifespan", "on", "--no-access-log"),
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, "DATABASE_URL": database_url(), **environment},
            stdout=output,
            stderr=output,
        )
    url = f"http://127.0.0.1:{port}"

    def serving() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            return httpx2.get(f"{url}/tools", timeout=5).status_code == 200
        except httpx2.HTTPError:
            return False

    try:
        wait_until(serving, 60, "a further web process")
        yield url, process
    finally:
        process.terminate()
        process.wait(20)
