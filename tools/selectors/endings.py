"""How calls ended over a long stretch, by tool and code, for whoever keeps to promises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet, Sum

from tools.figures import Sketch
from tools.models import CallFigures
from tools.selectors.figures import figures_between
from tools.selectors.joined import Joined

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
    """By name of tool, and under `ALL` those of all tools. `timed` names whose times are wanted too."""
    rows = figures_between(since, until)
    found: dict[str, list[Ended]] = defaultdict(list)
    for tool, code, calls in rows.values_list("tool", "code").annotate(sum=Sum("calls")):
        if tool != ALL:
            sketch = _sketch(rows.filter(tool=tool), code) if tool in timed else Sketch()
            found[tool].append(Ended(code, calls, sketch))
    found[ALL] = [
        Ended(code, calls, _sketch(rows, code) if ALL in timed else Sketch())
        for code, calls in rows.values_list("code").annotate(sum=Sum("calls"))
    ]
    return dict(found)


def _sketch(rows: QuerySet[CallFigures], code: str) -> Sketch:
    made = Sketch()
    joined = rows.filter(code=code).aggregate(joined=Joined("sketch"))["joined"]
    if joined:
        made.merge(joined)
    return made
