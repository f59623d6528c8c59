"""The life of a call: its stages as bars on one axis of time, its states, and both in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tools.admin.texts import moment
from tools.contracts import CallState
from tools.models import ToolRequest

# In the order of the path; what each one is about.
STAGES: Final = {
    "validation": ("Validation", "the tool is looked up and its arguments are checked"),
    "rate": ("Rate limit", "the caller's calls per minute are counted"),
    "cache": ("Cache", "it is asked, and a call under way that asks the same is waited for"),
    "slot": ("Wait for a slot", "only so many calls of the tool run at a time"),
    "backend": ("Backend", "the breaker is asked, the tool runs, its answer is checked and kept"),
    "budget": ("Token budget", "tokens are counted and a long answer is shortened"),
}
# A row that has it tells its stages apart, the one it failed in among them.
_APART: Final = "cache"
# What earlier releases wrote as "backend", and in which order.
TOGETHER: Final = ("Work", "the cache is asked, a free slot is waited for, the tool runs")
_EARLIER: Final = ("validation", "rate", "backend", "budget")
REUSED: Final = "the answer came from the cache, or from a call under way that asked the same"
STALE: Final = "it failed, and the last answer in the cache was given"
FAILED: Final = "here it failed"
# The cache itself fails no call.
FOLLOWED: Final = "it ended while it waited for a call under way that asked the same"
LAST: Final = ("Answer", "the answer is written")
ABANDONED: Final = (
    "Nobody closed it",
    "the process stopped; how far the call came is not known",
)
_TICKS: Final = 4
_STEPS: Final = (1, 2, 5, 10)
# A deadline further away than this many times the call would leave no room for the call.
_FAR: Final = 1.5
# So that what took next to nothing is seen too.
_NARROWEST: Final = 0.4


@dataclass(frozen=True, slots=True)
class Bar:
    """One stage; `left` and `width` are per cent of the axis."""

    name: str
    about: str
    time: str
    begins: str
    left: str
    width: str
    look: str = "done"


@dataclass(frozen=True, slots=True)
class State:
    """A state the call was in, from when on."""

    name: str
    at: str
    after: str


@dataclass(frozen=True, slots=True)
class Life:
    """What is drawn, and told."""

    bars: Sequence[Bar]
    states: Sequence[State]
    ticks: Sequence[tuple[str, str]]
    total: str
    deadline: str
    # Where on the axis, if it is near enough to be on it.
    deadline_left: str


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    about: str
    begins: float
    ms: float
    look: str


def life(row: ToolRequest, now: datetime | None = None) -> Life:
    """Of a call that is over, or as far as it has come."""
    total = _total(row, now or datetime.now(UTC))
    parts = list(_parts(row, total))
    allowed = _ms(row.deadline_at - row.received_at)
    near = allowed <= total * _FAR
    axis = max(total, allowed if near else 0.0, 0.001)
    return Life(
        bars=[_bar(part, axis) for part in parts],
        states=list(_states(row)),
        ticks=_ticks(axis),
        total=milliseconds(total),
        deadline=_deadline(total, allowed, over=row.finished_at is not None),
        deadline_left=_share(allowed, axis) if near else "",
    )


def milliseconds(value: float) -> str:
    return f"{value:,.1f} ms" if value >= 10 else f"{value:,.3f} ms"


def _total(row: ToolRequest, now: datetime) -> float:
    if row.duration_ms is not None:
        return float(row.duration_ms)
    return max(0.0, _ms((row.finished_at or now) - row.received_at))


def _parts(row: ToolRequest, total: float) -> Iterator[_Part]:
    """The stages it went through, and what came after the last of them."""
    taken = _known(row.stages)
    apart = _APART in taken
    failed_in = [name for name in STAGES if name in taken][-1] if apart and _failed(row) else ""
    begins = 0.0
    for name, ms in taken.items():
        shown, about = _words(name, taken, hit=bool(row.cache_hit))
        if name == failed_in:
            ended = FOLLOWED if name == _APART else FAILED
            yield _Part(shown, ended, begins, max(ms, total - begins), "wrong")
            return
        # Nothing of a tool that has no cache, or no limit of calls at a time.
        if ms or name not in {"cache", "slot"}:
            yield _Part(shown, about, begins, ms, "done")
        begins += ms
    rest = max(0.0, total - begins)
    following = LAST if apart else _following(taken)
    if row.finished_at is None:
        yield _Part("Still running", "this far it came by now", begins, rest, "running")
    elif row.duration_ms is None:
        yield _Part(*ABANDONED, begins, rest, "wrong")
    elif _failed(row):
        yield _Part(following[0], FAILED, begins, rest, "wrong")
    elif rest > 0:
        yield _Part(*following, begins, rest, "done")


def _failed(row: ToolRequest) -> bool:
    return row.state == CallState.FAILED


def _words(name: str, taken: Mapping[str, float], *, hit: bool) -> tuple[str, str]:
    """What a stage is called, and what it is about."""
    if name == "backend" and _APART not in taken:
        return TOGETHER[0], REUSED if hit else TOGETHER[1]
    shown, about = STAGES.get(name, (name, ""))
    if hit and name == "backend":
        about = STALE
    elif hit and name == "cache" and "backend" not in taken:
        about = REUSED
    return shown, about


def _following(taken: Mapping[str, float]) -> tuple[str, str]:
    """The stage after those that ended, of a call refused before the cache or of an earlier release."""
    steps = {**STAGES, "backend": TOGETHER}
    return next((steps[name] for name in _EARLIER if name not in taken), LAST)


def _known(stages: Any) -> dict[str, float]:
    """Stages in their order: a database may keep none, and another release may know more of them."""
    given: Mapping[str, Any] = stages if isinstance(stages, dict) else {}
    times = {
        name: float(ms)
        for name, ms in given.items()
        if isinstance(ms, int | float) and not isinstance(ms, bool) and ms >= 0
    }
    order = [*(name for name in STAGES if name in times)]
    order += sorted(name for name in times if name not in STAGES)
    return {name: times[name] for name in order}


def _states(row: ToolRequest) -> Iterator[State]:
    """What is known of them: a call is validated as soon as it is received, and executed once it is admitted."""
    yield _state("received", row.received_at, 0.0)
    stages = _known(row.stages)
    if row.finished_at is None and row.state == "received":
        return
    yield _state("validating", row.received_at, 0.0)
    if "rate" in stages:
        admitted = stages.get("validation", 0.0) + stages["rate"]
        yield _state("executing", row.received_at + timedelta(milliseconds=admitted), admitted)
    elif row.state == "executing":
        yield State("executing", "", "")
    if row.finished_at is not None:
        after = _total(row, row.finished_at)
        yield _state(row.state, row.finished_at, after)


def _state(name: str, at: datetime, after: float) -> State:
    return State(name, moment(at, milliseconds=True), f"+{milliseconds(after)}")


def _bar(part: _Part, axis: float) -> Bar:
    left = min(100 * part.begins / axis, 100 - _NARROWEST)
    width = min(max(100 * part.ms / axis, _NARROWEST), 100 - left)
    return Bar(
        part.name,
        part.about,
        milliseconds(part.ms),
        milliseconds(part.begins),
        f"{left:.2f}",
        f"{width:.2f}",
        part.look,
    )


def _ticks(axis: float) -> list[tuple[str, str]]:
    step = _nice(axis / _TICKS)
    return [
        (_share(place * step, axis), _label(place * step))
        for place in range(int(axis / step) + 1)
        # The last one would stand out over the edge.
        if place * step <= axis * 0.95
    ]


def _label(ms: float) -> str:
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms"


def _nice(value: float) -> float:
    size = 10.0 ** (len(f"{int(value)}") - 1) if value >= 1 else 0.001
    while size * 10 <= value:
        size *= 10
    return next(step * size for step in _STEPS if step * size >= value)


def _deadline(total: float, allowed: float, *, over: bool) -> str:
    if over and abs(allowed - total) < 1:
        return "when the call ended"
    if allowed < total:
        late = milliseconds(total - allowed)
        return f"{late} before the call ended" if over else f"{late} ago"
    spare = milliseconds(allowed - total)
    return f"{spare} after the call ended" if over else f"in {spare}"


def _share(value: float, axis: float) -> str:
    return f"{min(100 * value / axis, 100):.2f}"


def _ms(span: timedelta) -> float:
    return span / timedelta(milliseconds=1)
