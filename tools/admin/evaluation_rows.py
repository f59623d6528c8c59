"""Evaluations and their runs as rows of pages."""

from __future__ import annotations

from typing import Any, Final

from tools.admin.evaluation_charts import version_of
from tools.models import EvaluationJob, EvaluationRun
from tools.models.evaluations import UNDER_WAY, JobState, PartState
from tools.services.evaluation_jobs import is_stale

COLOURS: Final = {
    "waiting": "info",
    "running": "info",
    "done": "success",
    "failed": "danger",
    "cancelled": "warning",
    "lost": "danger",
}
# Above it chance alone could have done it.
CHANCE: Final = 0.05
_FIGURES: Final = (
    ("ndcg@10", "{:.3f}"),
    ("recall@5", "{:.3f}"),
    ("recall@10", "{:.3f}"),
    ("p50_ms", "{:,.1f} ms"),
    ("p95_ms", "{:,.1f} ms"),
)


def job_shown(job: EvaluationJob) -> dict[str, Any]:
    """An evaluation with how far each of its pipelines is."""
    parts = list(job.parts.all())
    runs = dict(EvaluationRun.objects.filter(part__in=parts).values_list("part_id", "pk"))
    stale = is_stale(job)
    word = "no sign of life" if stale else job.state
    return {
        "one": job,
        "word": word,
        "colour": "warning" if stale else COLOURS[job.state],
        "busy": job.state in UNDER_WAY,
        "stale": stale,
        "lost": job.state == JobState.LOST,
        "parts": [
            {
                "one": part,
                "colour": COLOURS[part.state],
                "percent": _percent(part.state, part.done, part.total),
                "run": runs.get(part.pk),
            }
            for part in parts
        ],
    }


def run_row(run: EvaluationRun) -> dict[str, Any]:
    """A run with its figures as text."""
    return {
        "one": run,
        "version": version_of(run),
        "figures": [figure(run.measures, name, form) for name, form in _FIGURES],
        "change": change(run.comparison),
    }


def figure(measures: Any, name: str, form: str) -> str:
    value = measures.get(name) if isinstance(measures, dict) else None
    return form.format(value) if isinstance(value, int | float) else "-"


def change(comparison: Any) -> dict[str, Any] | None:
    """The difference to the run before, and whether it is more than chance."""
    found = comparison if isinstance(comparison, dict) else {}
    difference, chance = found.get("difference"), found.get("p_value")
    if not isinstance(difference, int | float) or not isinstance(chance, int | float):
        return None
    sure = chance <= CHANCE
    if not difference and chance == 1:
        return {"told": "±0", "look": "", "why": ""}
    look = "" if not sure else "worse" if difference < 0 else "better"
    return {
        "told": f"{difference:+.3f}",
        "look": look,
        "why": f"p {chance:.3f}" if sure else f"p {chance:.2f}, chance?",
    }


def _percent(state: str, done: int, total: int) -> int:
    if state == PartState.DONE:
        return 100
    return min(100, 100 * done // total) if total else 0
