"""How calls ended over a long stretch, by tool and code, for whoever keeps to promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from tools.figures import Sketch, Summed
from tools.selectors.sums import summed

ALL = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """Calls that ended with `code`, empty for those that succeeded; their times where asked for."""

    code: str
    calls: int
    sketch: Sketch = field(default_factory=Sketch)


def endings(
    since: datetime, until: datetime, timed: Collection[str] = ()
) -> dict[str, list[Ended]]:
    """By name of tool, and under `ALL` those of all tools.

    `timed` names whose times are wanted too; those of calls that succeeded are told.
    """
    tools = {name: one for (name,), one in summed("tool", since, until, numbers=("calls",)).items()}
    everything = Summed()
    for one in tools.values():
        everything.include(one)
    tools[ALL] = everything
    return {name: list(_ended(one, timed=name in timed)) for name, one in tools.items()}


def _ended(calls: Summed, *, timed: bool) -> Iterator[Ended]:
    counts: Counter[str] = Counter()
    for (_, code), count in calls.endings.items():
        counts[code] += count
    for code, count in counts.items():
        yield Ended(code, count, calls.sketch if timed and not code else Sketch())
