"""Charts as numbers: where bars and lines lie in a box of 1000 by 100, for templates to draw.

The box is stretched to the width of the page, so whatever has to be read stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from django.utils import timezone

from health.admin.dashboard.ranges import Stretch
from health.admin.dashboard.ticks import Tick, ticks
from tools.admin.charts import HEIGHT, WIDTH, nice_top
from tools.admin.request_log import addresses as log
from tools.figures import CallStatistics
from tools.selectors.figures import Point

# Of a step, so that neighbours are told apart.
BAR: Final = 0.8
Measure = Callable[[CallStatistics], float | None]


@dataclass(frozen=True, slots=True)
class Bar:
    """One step: the whole of it links to its calls, `parts` are drawn from the bottom up."""

    x: str
    width: str
    parts: Sequence[tuple[str, str, str]]
    told: str
    link: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line, in pieces: there is none where there was nothing to measure."""

    name: str
    look: str
    pieces: Sequence[str]
    # A single step makes no line.
    dots: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn, the value at its top, and the times at its ends and between them."""

    name: str
    unit: str
    top: str
    begins: str
    ends: str
    ticks: Sequence[Tick]
    bars: Sequence[Bar]
    lines: Sequence[Line]
    looks: Sequence[tuple[str, str]]
    empty: bool


def charts(points: Sequence[Point], stretch: Stretch) -> list[Chart]:
    """Calls per minute, how many of them failed, and how long they took."""
    shown = _Shown(points, stretch)
    return [
        shown.rates(),
        shown.measured("Error rate", "%", ("failed", "bad", _percent), least=1.0, only=log.FAILED),
        shown.measured(
            "Time",
            "ms",
            ("p50", "first", lambda calls: calls.p50_ms),
            ("p95", "second", lambda calls: calls.p95_ms),
            least=1.0,
        ),
    ]


class _Shown:
    """The steps of a stretch, laid out from left to right."""

    def __init__(self, points: Sequence[Point], stretch: Stretch) -> None:
        self._points = points
        self._stretch = stretch
        self._step = WIDTH / max(1, len(points))
        # The last step is not over: counted as a whole one it grows, by the second it would leap.
        self._minutes = stretch.step.total_seconds() / 60
        self._ticks = ticks(points[0].begins_at, stretch.step * len(points)) if points else []

    def rates(self) -> Chart:
        """Calls per minute: those that succeeded, and those that failed above them."""
        most = max((one.calls.total for one in self._points), default=0)
        top = nice_top(most / self._minutes, 1)
        bars = [self._rate(place, one, top) for place, one in enumerate(self._points)]
        looks = (("succeeded", "good"), ("failed", "bad"))
        return self._chart("Calls", "per minute", top, bars=bars, looks=looks)

    def _rate(self, place: int, point: Point, top: float) -> Bar:
        calls, parts, height = point.calls, [], 0.0
        wrong = calls.failed + calls.timeout
        for look, count in (("good", calls.successful), ("bad", wrong)):
            if count:
                part = HEIGHT * count / self._minutes / top
                parts.append((look, f"{HEIGHT - height - part:.2f}", f"{part:.2f}"))
                height += part
        return self._bar(place, point, parts, **log.ENDED)

    def measured(
        self,
        name: str,
        unit: str,
        *lines: tuple[str, str, Measure],
        least: float,
        only: Mapping[str, str] = log.ENDED,
    ) -> Chart:
        """Lines of what is measured at each step; `only` narrows the calls that a step leads to."""
        values = [
            value
            for one in self._points
            for _, _, measure in lines
            if (value := measure(one.calls)) is not None
        ]
        top = nice_top(max(values, default=0), least)
        bars = [self._bar(place, one, (), **only) for place, one in enumerate(self._points)]
        drawn = [self._line(*one, top) for one in lines]
        looks = [(one.name, one.look) for one in drawn]
        return self._chart(name, unit, top, bars=bars, lines=drawn, looks=looks)

    def _bar(
        self, place: int, point: Point, parts: Sequence[tuple[str, str, str]], **only: str
    ) -> Bar:
        begin = point.begins_at
        end = min(begin + self._stretch.step, self._stretch.until)
        x, width = place * self._step, self._step * BAR
        return Bar(f"{x:.2f}", f"{width:.2f}", parts, told(point), log.calls(begin, end, **only))

    def _line(self, name: str, look: str, measure: Measure, top: float) -> Line:
        pieces, dots = [], []
        for piece in self._pieces(measure, top):
            if len(piece) == 1:
                dots.append(piece[0])
            else:
                pieces.append(" ".join(f"{x},{y}" for x, y in piece))
        return Line(name, look, pieces, dots)

    def _pieces(self, measure: Measure, top: float) -> Iterator[list[tuple[str, str]]]:
        placed = [(place, measure(one.calls)) for place, one in enumerate(self._points)]
        for there, group in groupby(placed, key=lambda one: one[1] is not None):
            if there:
                yield [
                    (
                        f"{(place + BAR / 2) * self._step:.2f}",
                        f"{HEIGHT - HEIGHT * value / top:.2f}",
                    )
                    for place, value in group
                    if value is not None
                ]

    def _chart(
        self,
        name: str,
        unit: str,
        top: float,
        *,
        bars: Sequence[Bar],
        lines: Sequence[Line] = (),
        looks: Sequence[tuple[str, str]],
    ) -> Chart:
        empty = not any(one.calls.total for one in self._points)
        ends = written(self._stretch.until)
        begins = written(self._points[0].begins_at) if self._points else ends
        return Chart(name, unit, f"{top:,g}", begins, ends, self._ticks, bars, lines, looks, empty)


def told(point: Point) -> str:
    """A step in words."""
    calls = point.calls
    if not calls.total:
        return f"{written(point.begins_at)}: no calls"
    times = ""
    if calls.p50_ms is not None and calls.p95_ms is not None:
        times = f", p50 {calls.p50_ms:,.0f} ms, p95 {calls.p95_ms:,.0f} ms"
    return (
        f"{written(point.begins_at)}: {calls.total:,} calls,"
        f" {calls.failed + calls.timeout:,} failed{times}"
    )


def written(moment: datetime) -> str:
    """A moment to the minute, for people."""
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"


def _percent(calls: CallStatistics) -> float | None:
    return 100 * calls.error_rate if calls.total else None
