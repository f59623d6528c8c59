"""The logs of the programs of an upstream server, by the process that runs them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tools.guards.redis import RedisLink
from tools.services.over_redis import RedisDown, over_redis
from tools.upstreams.child_logs import LOG_KEY, LOGS_KEY, Happening

__all__ = ["Happening", "LogLine", "ProcessLog", "RedisDown", "child_logs"]


@dataclass(frozen=True, slots=True)
class LogLine:
    """What happened to a program, or what it wrote, at one moment."""

    at: datetime
    what: Happening
    pid: int
    text: str


@dataclass(frozen=True, slots=True)
class ProcessLog:
    """What one process heard of its programs, the oldest first."""

    process: str
    lines: Sequence[LogLine]

    @property
    def last_end(self) -> LogLine | None:
        """How the last program ended; None while it runs."""
        turns = (Happening.STARTED, Happening.ENDED)
        last = next((line for line in reversed(self.lines) if line.what in turns), None)
        return last if last is not None and last.what is Happening.ENDED else None


def child_logs(slug: str) -> list[ProcessLog]:
    """The logs that are kept of this server, the process that was heard last first.

    Raises:
        RedisDown: they cannot be read.
    """

    async def ask(link: RedisLink) -> list[ProcessLog]:
        names = await link.command("ZREVRANGE", LOGS_KEY.format(slug=slug), 0, -1)
        keys = [LOG_KEY.format(slug=slug, process=name) for name in names]
        asked = [link.submit("LRANGE", key, 0, -1) for key in keys]
        found = [(name, await lines) for name, lines in zip(names, asked, strict=True)]
        return [
            ProcessLog(name, [_line(json.loads(text)) for text in lines])
            for name, lines in found
            if lines
        ]

    return over_redis(ask)


def _line(told: Mapping[str, Any]) -> LogLine:
    at = datetime.fromtimestamp(told["at"], UTC)
    return LogLine(at, Happening(told["what"]), told["pid"], told["text"])
