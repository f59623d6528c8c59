"""The page of evaluations: what is being measured, and what was measured over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.generic import TemplateView, View
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.evaluation_charts import evaluation_charts, latest_runs, looks, steps_of
from tools.admin.evaluation_rows import job_shown, run_row
from tools.models import EvaluationJob, EvaluationRun, PipelineConfig, QuestionSet
from tools.models.evaluations import UNDER_WAY
from tools.services.evaluation_jobs import CannotStart, cancel_evaluation, start_evaluation
from tools.techniques import techniques

MAY_LOOK: Final = "tools.view_evaluationrun"
MAY_START: Final = "tools.change_pipelineconfig"
PAGE: Final = "admin:tools_evaluationrun_evaluate"
MOST_LISTED: Final = 100
MOST_SETS: Final = 200
# After so long without a worker the page says what may be wrong.
PATIENCE: Final = timedelta(seconds=5)


class EvaluateView(UnfoldModelAdminViewMixin, TemplateView):
    """Choose a set and pipelines, start, and follow."""

    title = "Evaluations"
    permission_required = MAY_LOOK
    template_name = "tools/admin/evaluate.html"
    request: HttpRequest

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Start an evaluation, or cancel one."""
        if not request.user.has_perm(MAY_START):
            raise PermissionDenied
        if "cancel" in request.POST:
            return self._cancel(request)
        question_set = _by_key(QuestionSet.objects.all(), request.POST.get("set", ""))
        if question_set is None:
            messages.error(request, "Choose a question set.")
            return redirect(PAGE)
        try:
            names = request.POST.getlist("pipelines")
            start_evaluation(question_set, names, request.user.get_username())
        except CannotStart as fault:
            messages.error(request, str(fault))
        else:
            told = f"The evaluation of {question_set} is on its way to the workers."
            messages.success(request, told)
        return redirect(f"{reverse(PAGE)}?{urlencode({'set': question_set.pk})}")

    def _cancel(self, request: HttpRequest) -> HttpResponse:
        job = _by_key(EvaluationJob.objects.all(), request.POST.get("cancel", ""))
        if job is None:
            raise Http404
        if cancel_evaluation(job):
            messages.success(request, "The evaluation was cancelled. What was measured stays.")
        else:
            messages.warning(request, "The evaluation had ended already.")
        return redirect(f"{reverse(PAGE)}?{urlencode({'set': job.question_set_id})}")

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        sets = QuestionSet.objects.select_related("corpus").annotate(counted=Count("questions"))
        chosen = chosen_set(self.request)
        return {
            **context,
            **results(self.request, chosen),
            "sets": list(sets[:MOST_SETS]),
            "datasets": _datasets(),
            "offered": _offered(chosen),
        }


class ResultsView(UnfoldModelAdminViewMixin, View):
    """The part of the page that changes while an evaluation runs."""

    title = "Evaluations"
    permission_required = MAY_LOOK

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        shown = results(request, chosen_set(request))
        return render(request, "tools/admin/evaluate_results.html", shown)


def chosen_set(request: HttpRequest) -> QuestionSet | None:
    """The set that the address names, else the one that was evaluated last, else any."""
    sets = QuestionSet.objects.select_related("corpus")
    if request.GET.get("dataset"):
        return None
    if request.GET.get("set"):
        found: QuestionSet | None = _by_key(sets, request.GET["set"])
        return found
    latest = EvaluationJob.objects.values("question_set_id")[:1]
    return sets.filter(pk__in=latest).first() or sets.first()


def results(request: HttpRequest, chosen: QuestionSet | None) -> dict[str, Any]:
    """What is under way, the charts, and their table."""
    dataset = "" if chosen else request.GET.get("dataset", "")[:200]
    rows = EvaluationRun.objects.filter(question_set=chosen)
    runs = latest_runs(rows if chosen else rows.filter(dataset=dataset))
    steps = steps_of(runs)
    job = chosen.evaluations.select_related("version").first() if chosen else None
    shown = None if job is None else job_shown(job)
    return {
        "chosen": chosen,
        "dataset": dataset,
        "job": shown,
        "busy": job is not None and job.state in UNDER_WAY,
        "impatient": _impatient(job),
        "may_start": request.user.has_perm(MAY_START),
        "charts": evaluation_charts(steps) if steps else [],
        "versions": [step.version for step in steps],
        "begins": steps[0].began_at if steps else None,
        "ends": steps[-1].began_at if steps else None,
        "rows": [run_row(run) for run in runs[:MOST_LISTED]],
        "part": f"{reverse('admin:tools_evaluationrun_results')}?"
        + urlencode({"set": chosen.pk} if chosen else {"dataset": dataset}),
    }


def _impatient(job: EvaluationJob | None) -> bool:
    waits = job is not None and job.state == "waiting"
    return waits and job is not None and job.created_at < datetime.now(UTC) - PATIENCE


def _datasets() -> list[str]:
    """Collections that were measured by the command, latest first."""
    rows = EvaluationRun.objects.filter(question_set=None).order_by()
    found = rows.values("dataset").annotate(latest=Max("created_at")).order_by("-latest")
    return list(found.values_list("dataset", flat=True)[:MOST_SETS])


def _offered(chosen: QuestionSet | None) -> list[dict[str, Any]]:
    """Every technique; those are ticked that search the corpus of the set."""
    configured = dict(PipelineConfig.objects.values_list("pipeline_name", "corpus_id"))
    corpus = chosen.corpus_id if chosen else None
    known = looks()
    return [
        {
            "name": one.name,
            "title": one.title,
            "look": known[one.name],
            "ticked": corpus is not None and configured.get(one.name) == corpus,
            "configured": one.name in configured,
        }
        for one in techniques
    ]


def _by_key(rows: QuerySet[Any], key: str) -> Any:
    """The row of that number; None for what is none."""
    if not (key.isascii() and key.isdigit() and len(key) < 19):
        return None
    return rows.filter(pk=int(key)).first()
