"""One campaign: load, a kill, recovery, again and again; then the books are compared."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import redis

from tests.controlplane.stack import Stack
from tests.processes import wait_until

CONCURRENT = 200
VICTIMS = ("web", "redis", "worker")
SERVES_AGAIN_WITHIN = 10.0
PREPARE = """
from tests.factories import make_tool
from tools.models import ServiceConfiguration
ServiceConfiguration.objects.update(security_rate_limit=100_000_000)
make_tool(name='plain', timeout_seconds=5)
make_tool(name='limited', timeout_seconds=5, max_concurrent=20, queue_timeout_seconds=3, dependency='d')
make_tool(name='cached', timeout_seconds=5, cache_ttl_seconds=1)
"""
FINAL = ("completed", "failed")


@dataclass
class Books:
    """What callers were told, to be compared with what the journal says."""

    answered: dict[str, bool] = field(default_factory=dict)
    unanswered: set[str] = field(default_factory=set)
    recoveries: list[tuple[str, float]] = field(default_factory=list)


class Campaign:
    """Rounds of load and kills on one running stack."""

    def __init__(self, stack: Stack, seed: int = 1) -> None:
        self._stack = stack
        self._random = random.Random(seed)  # noqa: S311 - a repeatable campaign, not a secret
        self.books = Books()

    def prepare(self) -> None:
        """Add the tools of the campaign and wait until they are served."""
        done = self._stack.manage("shell", "--no-imports", "-c", PREPARE)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: self._stack.call("cached")[0] == 200, what="the campaign's tools")

    def run(self, rounds: int, victims: Sequence[str] = VICTIMS) -> None:
        """Load and kill `rounds` times, the victims in turn."""
        for victim in itertools.islice(itertools.cycle(victims), rounds):
            asyncio.run(self._round(victim))

    async def _round(self, victim: str) -> None:
        before = len(self.books.answered)
        calls = [asyncio.create_task(self._call(number)) for number in range(CONCURRENT)]
        await asyncio.sleep(self._random.uniform(0.1, 0.6))
        # In the middle of the load also where the machine is slow: some have their answer, some wait.
        while len(self.books.answered) == before and not all(call.done() for call in calls):
            await asyncio.sleep(0.01)
        self._kill(victim)
        killed = time.monotonic()
        # Asked while the load goes on, and of the tool whose slots the dead may hold.
        await asyncio.to_thread(
            wait_until,
            lambda: self._stack.call("limited")[0] == 200,
            SERVES_AGAIN_WITHIN,
            "service again",
        )
        self.books.recoveries.append((victim, time.monotonic() - killed))
        await asyncio.gather(*calls)

    def _kill(self, victim: str) -> None:
        wait_until(lambda: any(True for _ in self._pids(victim)), what=f"a running {victim}")
        for pid in self._pids(victim):
            os.kill(pid, signal.SIGKILL)

    def _pids(self, victim: str) -> Iterator[int]:
        for name, process in self._stack.processes().items():
            if name.startswith(victim) and process.pid:
                yield process.pid

    async def _call(self, number: int) -> None:
        request_id = str(uuid.uuid4())
        tool = ("plain", "limited", "cached")[number % 3]
        arguments = {"delay": round(self._random.uniform(0, 0.8), 2)}
        body = json.dumps({"tool": tool, "arguments": arguments, "request_id": request_id}).encode()
        head = (
            f"POST /call-tool HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._stack.port)
            writer.write(head.encode() + body)
            answer = await asyncio.wait_for(reader.read(), 30)
            writer.close()
            told = json.loads(answer.partition(b"\r\n\r\n")[2])
        except (OSError, ValueError):
            self.books.unanswered.add(request_id)
            return
        self.books.answered[told["request_id"]] = told["success"]

    def settle(self, timeout: float = 40) -> None:
        """Wait until no call is open: the journal drained, what died swept."""
        wait_until(
            lambda: self._open_rows() == 0 and self._backlog() == 0, timeout, "a settled journal"
        )

    def faults(self) -> list[str]:
        """Where the journal and the callers disagree; empty when nothing was lost."""
        rows = self._rows()
        found = [f"{count} rows for one call" for count in map(len, rows.values()) if count > 1]
        for request_id, success in self.books.answered.items():
            states = rows.get(request_id, [])
            if not states:
                found.append(f"an answered call has no row: {request_id}")
            elif (states[0] == "completed") is not success:
                found.append(f"told success={success}, journalled {states[0]}: {request_id}")
        found += [
            f"an unanswered call is still open: {request_id}"
            for request_id in self.books.unanswered
            if any(state not in FINAL for state in rows.get(request_id, []))
        ]
        return found

    def held_slots(self) -> int:
        """Slots that are taken although nothing runs."""
        with self._redis() as client:
            names = [name for name in client.scan_iter("cp:slots:*") if client.type(name) == "zset"]
            now = time.time()
            return sum(client.zcount(name, now, "+inf") for name in names)

    def _rows(self) -> dict[str, list[str]]:
        rows: dict[str, list[str]] = {}
        for request_id, state in self._query("SELECT request_id, state FROM tools_toolrequest"):
            rows.setdefault(str(uuid.UUID(request_id)), []).append(state)
        return rows

    def _open_rows(self) -> int:
        return int(
            self._query("SELECT count(*) FROM tools_toolrequest WHERE finished_at IS NULL")[0][0]
        )

    def _query(self, sql: str) -> list[tuple[str, ...]]:
        connection = sqlite3.connect(self._stack.folder / "controlplane.sqlite3", timeout=20)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def _backlog(self) -> int:
        try:
            with self._redis() as client:
                return int(client.xlen("cp:journal"))
        except redis.RedisError:
            return -1

    def _redis(self) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=str(self._stack.paths.redis_socket), decode_responses=True
        )
