"""Results of evaluations over time: one line for each pipeline, one step for each evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from tools.admin.charts import LineChart, Value, nice_top, trace
from tools.models import EvaluationRun
from tools.techniques import techniques

MOST_STEPS: Final = 40
MOST_RUNS: Final = 400
LOOKS: Final = 8
# Name in a run's measures, title, unit.
MEASURES: Final = (
    ("ndcg@10", "nDCG@10", ""),
    ("recall@5", "Recall@5", ""),
    ("recall@10", "Recall@10", ""),
    ("p50_ms", "Latency, p50", "ms"),
    ("p95_ms", "Latency, p95", "ms"),
)


@dataclass(slots=True)
class Step:
    """The runs of one evaluation, by pipeline."""

    version: str
    runs: dict[str, EvaluationRun] = field(default_factory=dict)

    @property
    def began_at(self) -> datetime:
        """When the first of them was measured."""
        return min(run.created_at for run in self.runs.values())


def latest_runs(rows: QuerySet[EvaluationRun]) -> list[EvaluationRun]:
    """What the charts and their table show, latest first."""
    wanted = rows.select_related("version__corpus", "part").order_by("-created_at", "-pk")
    return list(wanted.defer("per_query", "parameters")[:MOST_RUNS])


def steps_of(runs: Sequence[EvaluationRun]) -> list[Step]:
    """Runs, latest first, as evaluations, earliest first.

    Those of one evaluation of a worker belong together, and so do those of a command: one after the other,
    each of another pipeline, on the same version.
    """
    steps: list[Step] = []
    job: int | None = None
    for run in reversed(runs):
        its_job = run.part.job_id if run.part else None
        version = version_of(run)
        last = steps[-1] if steps else None
        if (
            last is None
            or its_job != job
            or last.version != version
            or run.pipeline_name in last.runs
        ):
            last = Step(version)
            steps.append(last)
        last.runs[run.pipeline_name] = run
        job = its_job
    return steps[-MOST_STEPS:]


def evaluation_charts(steps: Sequence[Step]) -> list[LineChart]:
    """A chart for each measure; pipelines have the same look in all of them."""
    names = [name for name in techniques.names() if any(name in step.runs for step in steps)]
    others = {name for step in steps for name in step.runs} - set(names)
    names += sorted(others)
    return [_chart(steps, names, *measure) for measure in MEASURES]


def version_of(run: EvaluationRun) -> str:
    """The index version of a run, as charts name it."""
    return "gone" if run.version is None else f"v{run.version.number}"


def looks() -> dict[str, str]:
    """The look of each pipeline."""
    return {name: f"look{place % LOOKS}" for place, name in enumerate(techniques.names())}


def _chart(
    steps: Sequence[Step], names: Sequence[str], measure: str, title: str, unit: str
) -> LineChart:
    lines = {
        name: [_value(step.runs.get(name), measure, title) for step in steps] for name in names
    }
    amounts = [one.amount for line in lines.values() for one in line if one is not None]
    low, high = _bounds(amounts, unit)
    known = looks()
    return LineChart(
        title,
        unit,
        f"{low:g}",
        f"{high:,g}",
        [trace(name, known.get(name, "look7"), line, (low, high)) for name, line in lines.items()],
    )


def _bounds(amounts: Sequence[float], unit: str) -> tuple[float, float]:
    """Latencies from nothing up; shares between the tenths around them, as they differ by little."""
    if unit:
        return 0.0, nice_top(max(amounts, default=0), 1)
    low = max(0.0, math.floor(10 * min(amounts, default=0)) / 10)
    high = math.ceil(10 * max(amounts, default=1)) / 10
    return (low, high) if high > low else (max(0.0, low - 0.1), max(high, 0.1))


def _value(run: Any, measure: str, title: str) -> Value | None:
    amount = None if run is None else run.measures.get(measure)
    if not isinstance(amount, int | float) or not math.isfinite(amount):
        return None
    shown = f"{amount:,.1f} ms" if measure.endswith("_ms") else f"{amount:.3f}"
    when = f"{timezone.localtime(run.created_at):%Y-%m-%d %H:%M}"
    return Value(
        float(amount),
        f"{run.pipeline_name}, {version_of(run)}, {when}: {title} {shown}",
        reverse("admin:tools_evaluationrun_change", args=[run.pk]),
    )
