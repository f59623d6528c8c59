"""What comes of requests to the chat over HTTP: real tools over MCP, answers streamed, any model behind it.

Used by `python -m bench.small_model --chat`, which serves the model. The chat runs as a program of its own, with the
interpreter that has its packages.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from agent.intents.cases import Case

PROJECT: Final = Path(__file__).resolve().parents[1]
# For the chat to start, and for its tools to be there.
READY_SECONDS: Final = 60.0


class ChatFault(Exception):
    """The chat does not answer as it should. The message says how."""


@dataclass(slots=True)
class Turn:
    """One request and what was streamed: events by kind, the calls of tools, how it ended."""

    case: Case
    events: Counter[str] = field(default_factory=Counter)
    calls: list[tuple[str, str]] = field(default_factory=list)
    status: str = ""
    seconds: float = 0.0

    @property
    def outcome(self) -> str:
        """What the first call was, if there was one."""
        called = self.calls[0][0] if self.calls else None
        right = called in (self.case.tool, *self.case.also)
        if called is None:
            return "rightly no call" if right else "no call"
        return "right tool" if right else "another tool"

    def take(self, kind: str, data: Mapping[str, Any]) -> None:
        """Count one event."""
        self.events[kind] += 1
        if kind == "DONE":
            self.status = str(data.get("status"))
        if kind == "TOOL_CALL":
            self.calls.append((str(data.get("tool_name")), str(data.get("status"))))


@contextmanager
def chatting(python: str, **settings: str) -> Iterator[str]:
    """The address of a chat that is started for this, once it has its tools."""
    command = [python, "-m", "agent.serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=PROJECT, env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        try:
            told = next((line for line in running.stderr if "the chat is at " in line), "")
            if not told:
                raise ChatFault("The chat did not start")
            # Its log must not fill the pipe.
            threading.Thread(target=running.stderr.read, daemon=True).start()
            url = told.rpartition("the chat is at ")[2].strip()
            _wait_for_tools(url)
            yield url
        finally:
            running.terminate()


def turns(url: str, cases: Sequence[Case], seconds: float) -> Iterator[Turn]:
    """Put each request to the chat, in a conversation of its own."""
    for case in cases:
        turn = Turn(case)
        began = time.perf_counter()
        for kind, data in _streamed(url, case.say, seconds):
            turn.take(kind, data)
        turn.seconds = time.perf_counter() - began
        yield turn


def summary(found: Sequence[Turn]) -> str:
    """Counts of outcomes, of events and of calls, for people."""
    outcomes = Counter(one.outcome for one in found)
    ends = Counter(one.status or "cut off" for one in found)
    events: Counter[str] = sum((one.events for one in found), Counter())
    calls = Counter(f"{tool} {status}" for one in found for tool, status in one.calls)
    rows = [
        ("requests", len(found)),
        *((f"outcome: {name}", number) for name, number in sorted(outcomes.items())),
        *((f"end: {name}", number) for name, number in sorted(ends.items())),
        *((f"event: {name}", number) for name, number in sorted(events.items())),
        *((f"call: {name}", number) for name, number in sorted(calls.items())),
    ]
    lines = [f"| {name} | {number} |" for name, number in rows]
    median = statistics.median(one.seconds for one in found) if found else 0.0
    longest = max((one.seconds for one in found), default=0.0)
    lines.append(f"| seconds, median and longest | {median:.1f} and {longest:.1f} |")
    return "\n".join(["| what | count |", "|---|---|", *lines])


def _streamed(url: str, message: str, seconds: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of one answer, as they come."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=seconds)
    try:
        body = json.dumps({"message": message})
        connection.request("POST", parts.path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != http.HTTPStatus.OK:
            raise ChatFault(f"The chat answered with status {response.status}")
        kind = ""
        for line in response:
            name, _, value = line.decode().rstrip("\r\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                yield kind, json.loads(value)
    except (OSError, http.client.HTTPException) as fault:
        raise ChatFault(f"The chat did not answer: {fault}") from fault
    finally:
        connection.close()


def _wait_for_tools(url: str) -> None:
    limit = time.monotonic() + READY_SECONDS
    while not _tools(url):
        if time.monotonic() > limit:
            raise ChatFault("The chat has no tools: is the control plane at MCP_URL?")
        time.sleep(0.2)


def _tools(url: str) -> int:
    """How many tools the chat has."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=READY_SECONDS)
    try:
        connection.request("GET", "/health")
        return int(json.loads(connection.getresponse().read())["tools"])
    except (OSError, http.client.HTTPException) as fault:
        raise ChatFault(f"The chat did not answer: {fault}") from fault
    finally:
        connection.close()
