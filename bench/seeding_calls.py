"""Made-up rows of the request log: a few busy tools and callers, many quiet ones, some ways to fail."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any, Final

SOURCES: Final = ("http_api", "upstream", "pipeline", "http_api", "builtin")
# What is chosen, and how often: weights, added up.
TRANSPORTS: Final = (
    ["rest", "streamable_http", "sse", "stdio", "websocket", "admin", "cli"],
    list(accumulate([450, 400, 60, 50, 20, 19, 1])),
)
CODES: Final = (
    [
        *("EXECUTION_ERROR", "INVALID_ARGUMENTS", "RATE_LIMITED", "TIMEOUT"),
        *("SERVICE_UNAVAILABLE", "TOOL_NOT_FOUND", "INTERNAL_ERROR"),
    ],
    list(accumulate([300, 300, 150, 120, 100, 29, 1])),
)
FAILED: Final = 0.06
HIT: Final = 0.4
CORRELATED: Final = 0.3
# Calls of the last seconds that have not ended.
OPEN_SECONDS: Final = 2.0
WORDS: Final = (
    *("heating", "permit", "contract", "invoice", "delivery", "warranty", "sheep", "lineage"),
    *("station", "timetable", "weather", "payment", "customer", "holiday", "engine", "harbour"),
)
# In the arguments of a few calls of a million, to be searched for.
RARE_WORD: Final = "quokka"
RARE: Final = 1 / 100_000
CALLED_ONCE: Final = "made_up_name"

Row = dict[str, Any]


def tool_name(number: int) -> str:
    return f"tool_{number:03}"


def source_of(number: int) -> str:
    return SOURCES[number % len(SOURCES)]


class Calls:
    """Calls spread evenly over a stretch of time; the same ones for the same seed and stretch."""

    def __init__(self, tools: int, callers: Sequence[str], seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - not for secrets
        self._tools, self._tool_weights = range(tools), _falling(tools)
        self._callers, self._caller_weights = callers, _falling(len(callers))
        self._correlation = ""

    def rows(self, count: int, since: datetime, until: datetime) -> Iterator[Row]:
        """Oldest first; values are those of the columns, times are datetimes, ids are UUIDs."""
        step = (until - since) / count
        for place in range(count):
            received = since + step * (place + self._random.random())
            yield self._row(received, until)

    def _row(self, received: datetime, until: datetime) -> Row:
        chance = self._random
        number = chance.choices(self._tools, cum_weights=self._tool_weights)[0]
        source = source_of(number)
        words = " ".join(chance.choices(WORDS, k=5))
        if chance.random() < RARE:
            words += f" {RARE_WORD}"
        parameters = json.dumps({"query": words, "limit": chance.randint(1, 50)})
        if chance.random() < CORRELATED / 3:
            self._correlation = f"trace-{chance.getrandbits(48):012x}"
        correlated = chance.random() < CORRELATED
        row = {
            "call_id": _time_ordered(received, chance),
            "received_at": received,
            "request_id": uuid.UUID(int=chance.getrandbits(128), version=4),
            "correlation_id": self._correlation if correlated else "",
            "thread_id": f"thread-{self._correlation[-4:]}" if correlated else "",
            "tool_name": tool_name(number),
            "source": source,
            "transport": _one(chance, TRANSPORTS),
            "caller": chance.choices(self._callers, cum_weights=self._caller_weights)[0],
            "parameters": parameters,
            "query_text": words if source == "pipeline" else "",
            "deadline_at": received + timedelta(seconds=60),
            "request_bytes": len(parameters),
        }
        running = (until - received).total_seconds() < OPEN_SECONDS
        return row | (self._open() if running else self._ended(row))

    def _open(self) -> Row:
        return {
            **dict.fromkeys(("finished_at", "duration_ms", "cache_hit", "response_bytes")),
            **dict.fromkeys(("tokens_before", "tokens_after")),
            "state": "executing",
            "status": "",
            "code": "",
            "error": "",
            "stages": "{}",
        }

    def _ended(self, row: Row) -> Row:
        chance = self._random
        code = _one(chance, CODES) if chance.random() < FAILED else ""
        if code == "TOOL_NOT_FOUND":
            row["tool_name"], row["source"] = CALLED_ONCE, ""
        # From a fraction of a millisecond to half a minute.
        duration = round(min(chance.lognormvariate(3.5, 1.5), 30_000.0), 3)
        if code == "TIMEOUT":
            duration = 60_000.0
        worked = code in {"", "EXECUTION_ERROR", "TIMEOUT"}
        tokens = chance.randint(10, 9000) if not code else None
        return {
            "state": "failed" if code else "completed",
            "status": _status(code),
            "code": code,
            "error": f"{row['tool_name']} said no: {row['parameters'][11:40]}" if code else "",
            "finished_at": row["received_at"] + timedelta(milliseconds=duration),
            "duration_ms": duration,
            "stages": _stages(duration, code) if worked else '{"validation":0.05}',
            "cache_hit": chance.random() < HIT
            if row["source"] == "http_api" and not code
            else None,
            "response_bytes": tokens * 4 if tokens is not None else None,
            "tokens_before": tokens,
            "tokens_after": min(tokens, 4000) if tokens is not None else None,
        }


def _falling(count: int) -> list[float]:
    """Weights that fall as they do for tools and callers: the second has half the calls of the first."""
    return list(accumulate(1 / place for place in range(1, count + 1)))


def _one(chance: random.Random, weighted: tuple[list[str], list[int]]) -> str:
    return chance.choices(weighted[0], cum_weights=weighted[1])[0]


def _status(code: str) -> str:
    return {"": "success", "TIMEOUT": "timeout"}.get(code, "failure")


def _stages(duration: float, code: str) -> str:
    """Those it went through: what failed while it worked had no need of the budget."""
    ended = {"validation": 0.02, "rate": 0.03, "cache": 0.0, "slot": 0.1, "backend": 0.8}
    if not code:
        ended |= {"budget": 0.03}
    return json.dumps({name: round(duration * share, 3) for name, share in ended.items()})


def _time_ordered(moment: datetime, chance: random.Random) -> uuid.UUID:
    milliseconds = int((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
    value = milliseconds << 80 | chance.getrandbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    return uuid.UUID(int=value & ~(0x3 << 62) | 0x2 << 62)
