"""On the page of an evaluation run: its questions, those that got worse first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.urls import reverse
from django.utils.http import urlencode

from tools.admin.evaluation_rows import change
from tools.models import EvaluationRun, LabelledQuestion

MOST_SHOWN: Final = 100
LONGEST_TEXT: Final = 300


def questions_of(run: EvaluationRun, *, all_of_them: bool) -> dict[str, Any]:
    """The context of the page: questions whose value changed, or all."""
    after = _values(run)
    previous = _previous(run)
    before = _values(previous) if previous is not None else {}
    rows = [(key, before.get(key), value) for key, value in after.items()]
    worse = [row for row in rows if row[1] is not None and row[2] < row[1]]
    better = [row for row in rows if row[1] is not None and row[2] > row[1]]
    shown = rows if all_of_them or previous is None else worse + better
    # With nothing to compare with, what was not found comes first.
    shown = sorted(shown, key=lambda row: (row[2] - (row[1] or 0 if previous else 0), row[0]))
    return {
        "run": run,
        "previous": previous,
        "moved": change(run.comparison),
        "worse": len(worse),
        "better": len(better),
        "same": len(rows) - len(worse) - len(better),
        "all_of_them": all_of_them,
        "left_out": max(0, len(shown) - MOST_SHOWN),
        "questions": _shown(run, shown[:MOST_SHOWN]),
    }


def _shown(run: EvaluationRun, rows: list[tuple[str, float | None, float]]) -> list[dict[str, Any]]:
    texts: dict[str, str] = {}
    if run.question_set_id is not None:
        known = LabelledQuestion.objects.filter(
            question_set=run.question_set_id, key__in=[row[0] for row in rows]
        )
        texts = dict(known.values_list("key", "text"))
    return [
        {
            "key": key,
            "text": texts.get(key, "")[:LONGEST_TEXT],
            "compare": compare_address(texts[key]) if key in texts else "",
            "before": None if before is None else f"{before:.3f}",
            "after": f"{after:.3f}",
            "change": None if before is None else f"{after - before:+.3f}",
            "look": "" if before is None or before == after else _look(before, after),
        }
        for key, before, after in rows
    ]


def compare_address(question: str) -> str:
    """The page that asks pipelines this question side by side."""
    return f"{reverse('admin:tools_pipelineconfig_compare')}?{urlencode({'question': question})}"


def _look(before: float, after: float) -> str:
    return "worse" if after < before else "better"


def _previous(run: EvaluationRun) -> EvaluationRun | None:
    """The run that this one was compared with, unless it is gone."""
    key = run.comparison.get("run") if isinstance(run.comparison, dict) else None
    if not isinstance(key, int):
        return None
    return EvaluationRun.objects.filter(pk=key).select_related("version").first()


def _values(run: EvaluationRun) -> Mapping[str, float]:
    found = run.per_query if isinstance(run.per_query, dict) else {}
    return {key: float(value) for key, value in found.items() if isinstance(value, int | float)}
