"""The span of one call and those of its stages, one after the other.

Times are taken when they pass; spans are made of them at the end, because a finished span costs a
quarter of one that is kept up to date. Only identities have to exist before: whoever is called in a
stage makes spans below it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Protocol

NONE: Final[Mapping[str, Any]] = {}


class Kind(Enum):
    """How a span stands to the one above or below it, by the names of OpenTelemetry."""

    INTERNAL = "INTERNAL"
    SERVER = "SERVER"
    CLIENT = "CLIENT"
    PRODUCER = "PRODUCER"


@dataclass(frozen=True, slots=True)
class Begun:
    """A span that has just begun. `flags` are those of W3C, the first of which says: exported.

    `parent` is its parent as the exporter knows it, `trace_state` what goes along with the trace.
    """

    trace_id: int
    span_id: int
    flags: int
    parent: Any = None
    trace_state: Any = None

    @property
    def sampled(self) -> bool:
        return bool(self.flags & 1)


@dataclass(slots=True)
class Finished:
    """A span with all there is to say of it. Times are nanoseconds since the epoch."""

    name: str
    span_id: int
    kind: Kind
    start: int
    end: int = 0
    error: str = ""
    attributes: Mapping[str, Any] = field(default_factory=lambda: NONE)


class Out(Protocol):
    """Where spans go."""

    def begin(self, name: str, kind: Kind, trace: Mapping[str, str]) -> Begun:
        """A new span below the one that `trace` tells of."""
        ...

    def new_id(self) -> int: ...

    def take(self, begun: Begun, top: Finished, stages: list[Finished]) -> None:
        """Export a span and those below it. Returns at once."""
        ...


class Spans:
    """One span under way; exactly one of its stages is under way at a time, or none."""

    __slots__ = ("_ahead", "_begun", "_out", "_stage", "_stages", "_top", "_trace")

    def __init__(self, out: Out, name: str, trace: Mapping[str, str], kind: Kind) -> None:
        self._out = out
        self._trace = trace
        self._begun = out.begin(name, kind, trace)
        now = time.time_ns()
        self._top = Finished(name, self._begun.span_id, kind, now)
        # Between two moments of one call no clock is set back.
        self._ahead = now - time.perf_counter_ns()
        self._stage: Finished | None = None
        self._stages: list[Finished] = []

    @property
    def trace_id(self) -> str:
        return f"{self._begun.trace_id:032x}"

    @property
    def span_id(self) -> str:
        return f"{self._begun.span_id:016x}"

    def enter(
        self, stage: str, kind: Kind = Kind.INTERNAL, attributes: Mapping[str, Any] = NONE
    ) -> None:
        """The stage that was under way has ended and `stage` begins."""
        now = self._now()
        self._end_stage(now, "")
        self._stage = Finished(stage, self._out.new_id(), kind, now, attributes=attributes)

    def leave(self, error: str = "") -> None:
        """The stage that was under way, if any, has ended; with `error` because it failed."""
        self._end_stage(self._now(), error)

    def outward(self) -> Mapping[str, str]:
        """The context for whoever is called now: spans they make are below the stage under way."""
        below = self._stage or self._top
        parent = f"00-{self.trace_id}-{below.span_id:016x}-{self._begun.flags:02x}"
        return {**self._trace, "traceparent": parent}

    def finish(self, attributes: Mapping[str, Any], error: str = "", name: str = "") -> None:
        """All is done: export it. With `error`, it failed for that reason; `name` is a better one."""
        top, now = self._top, self._now()
        top.name = name or top.name
        self._end_stage(now, error)
        top.end, top.error, top.attributes = now, error, attributes
        if self._begun.sampled:
            self._out.take(self._begun, top, self._stages)

    def _now(self) -> int:
        return time.perf_counter_ns() + self._ahead

    def _end_stage(self, now: int, error: str) -> None:
        stage = self._stage
        if stage is not None:
            stage.end, stage.error = now, error
            self._stages.append(stage)
            self._stage = None
