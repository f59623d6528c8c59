"""Evaluation runs in the admin: how well pipelines found what they should, to read and compare."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from typing_extensions import override

from tools.admin.evaluate import EvaluateView, ResultsView
from tools.admin.json_fields import panel, pretty
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.run_questions import questions_of
from tools.admin.texts import moment, unbroken
from tools.models import EvaluationRun


def _measure(name: str, title: str, unit: str = "") -> Any:
    """A column with one measure of the run, or a dash where it has none."""

    @admin.display(description=title)
    def column(self: Any, run: Any) -> SafeString | str:
        value = run.measures.get(name) if isinstance(run.measures, dict) else None
        if not isinstance(value, int | float):
            return "-"
        return unbroken(f"{value:,.1f} {unit}" if unit else f"{value:.3f}")

    return column


@admin.register(EvaluationRun)
class EvaluationRunAdmin(ReadOnlyAdmin):
    """One row for each pipeline of an evaluation, by a worker or by `manage.py evaluate`, latest first."""

    what_comes_here = (
        "Each measurement of a pipeline on a question set is one row. They are begun under "
        "Evaluations."
    )
    list_display = (
        "created",
        "pipeline_name",
        "dataset",
        "index",
        "ndcg",
        "recall_5",
        "recall_10",
        "mrr",
        "p95",
        "difference",
    )
    list_filter = ("pipeline_name", "dataset")
    list_filter_submit = False
    list_select_related = ("version__corpus",)
    search_fields = ("pipeline_name", "dataset")
    sortable_by = ()
    fieldsets = (
        (None, {"fields": ("pipeline_name", "dataset", "index", "queries", "created")}),
        ("Measures", {"fields": ("measures_shown", "comparison_shown")}),
        ("How it was asked", {"fields": ("parameters_shown",)}),
    )
    change_form_outer_before_template = "tools/admin/run_questions.html"

    class Media:
        css = {"all": ("tools/admin/pipelines.css",)}

    ndcg = _measure("ndcg@10", "nDCG@10")
    recall_5 = _measure("recall@5", "Recall@5")
    recall_10 = _measure("recall@10", "Recall@10")
    mrr = _measure("mrr@10", "MRR@10")
    p95 = _measure("p95_ms", "p95", "ms")

    @override
    def get_urls(self) -> list[URLPattern]:
        views = (("evaluate/", EvaluateView, "evaluate"), ("results/", ResultsView, "results"))
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            *(
                path(
                    address,
                    self.admin_site.admin_view(view.as_view(model_admin=self)),
                    name=f"tools_evaluationrun_{name}",
                )
                for address, view, name in views
            ),
            *super().get_urls(),
        ]

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        run = self.get_object(request, object_id)
        shown = {} if run is None else questions_of(run, all_of_them="all" in request.GET)
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[EvaluationRun]:
        """Without the figures of single queries, which can be thousands."""
        rows: QuerySet[EvaluationRun] = super().get_queryset(request)
        return rows.defer("per_query", "parameters")

    @override
    def lookup_allowed(self, lookup: str, value: str, request: Any = None) -> bool:
        """A version's page leads to its runs."""
        return lookup == "version__id__exact" or super().lookup_allowed(lookup, value, request)

    @admin.display(description="Index")
    def index(self, run: Any) -> SafeString | str:
        if run.version is None:
            return "gone"
        return unbroken(f"{run.version.corpus.slug} {run.version.number}")

    @admin.display(description="Change")
    def difference(self, run: Any) -> SafeString | str:
        found = run.comparison if isinstance(run.comparison, dict) else {}
        change, chance = found.get("difference"), found.get("p_value")
        if not isinstance(change, int | float):
            return "-"
        told = f"{change:+.3f}"
        return unbroken(f"{told} (p = {chance:.3f})" if isinstance(chance, int | float) else told)

    @admin.display(description="Measures")
    def measures_shown(self, run: Any) -> SafeString:
        return panel(pretty(run.measures))

    @admin.display(description="Against the run before")
    def comparison_shown(self, run: Any) -> SafeString:
        return panel(pretty(run.comparison))

    @admin.display(description="Parameters")
    def parameters_shown(self, run: Any) -> SafeString:
        return panel(pretty(run.parameters))

    @admin.display(description="When")
    def created(self, run: Any) -> str:
        return moment(run.created_at)
