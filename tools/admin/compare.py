"""The page that asks several pipelines one question, and shows their answers side by side."""

from __future__ import annotations

import logging
import uuid
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.generic import TemplateView, View
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from tools.admin.comparison import columns, matrix
from tools.admin.evaluation_charts import looks
from tools.execution.trials import (
    Trial,
    cancel_trial,
    find_trial,
    others_reachable,
    start_trial,
)
from tools.models import PipelineConfig
from tools.models.pipelines import TOOL_PREFIX
from tools.techniques import LONGEST_QUERY

logger = logging.getLogger(__name__)

MAY_LOOK: Final = "tools.view_pipelineconfig"
MAY_ASK: Final = "tools.change_pipelineconfig"
PAGE: Final = "admin:tools_pipelineconfig_compare"
MOST_COLUMNS: Final = 12
NOT_STARTED: Final = "{} could not be asked. Is the service still starting? The log has the reason."


class CompareForm(forms.Form):
    """What is asked, and whom."""

    question = forms.CharField(
        max_length=LONGEST_QUERY,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        error_messages={"required": "Write a question."},
    )
    top_k = forms.IntegerField(
        label="Passages",
        required=False,
        min_value=1,
        max_value=50,
        widget=UnfoldAdminIntegerFieldWidget(attrs={"min": 1, "max": 50}),
        help_text="How many to retrieve. Empty: as each pipeline is configured.",
    )
    pipelines = forms.MultipleChoiceField(
        error_messages={"required": "Choose at least one pipeline."}
    )

    def __init__(self, *args: Any, rows: list[Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["pipelines"]
        assert isinstance(chosen, forms.MultipleChoiceField)  # noqa: S101 - for the type checker
        chosen.choices = [(row.pipeline_name, row.pipeline_name) for row in rows]


class CompareView(UnfoldModelAdminViewMixin, TemplateView):
    """Ask, then follow each pipeline until it has answered."""

    title = "Compare pipelines"
    permission_required = MAY_LOOK
    template_name = "tools/admin/compare.html"
    request: HttpRequest

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Ask the question, or stop asking."""
        if not request.user.has_perm(MAY_ASK):
            raise PermissionDenied
        if "cancel" in request.POST:
            return self._cancel(request)
        rows = _pipelines()
        form = CompareForm(request.POST, rows=rows)
        if not form.is_valid():
            return self.render_to_response(self.get_context_data(form=form))
        asked = [row for row in rows if row.pipeline_name in form.cleaned_data["pipelines"]]
        begun = self._ask(request, form, asked[:MOST_COLUMNS])
        return redirect(_address(begun) if begun else reverse(PAGE))

    def _ask(self, request: HttpRequest, form: CompareForm, asked: list[Any]) -> list[str]:
        arguments: dict[str, Any] = {"query": form.cleaned_data["question"]}
        if form.cleaned_data["top_k"]:
            arguments["top_k"] = form.cleaned_data["top_k"]
        begun = []
        for row in asked:
            try:
                user = request.user.get_username()
                # An answer from the cache would stand there with the time of the cache.
                trial = start_trial(row.tool.name, arguments, username=user, fresh=True)
                begun.append(trial)
            except Exception:
                logger.exception("%s could not be asked", row.tool.name)
                messages.error(request, NOT_STARTED.format(row.pipeline_name))
        return begun

    def _cancel(self, request: HttpRequest) -> HttpResponse:
        user = request.user.get_username()
        begun = _ids(request.POST.getlist("trial"))
        stopped = sum(cancel_trial(one, user) for one in begun)
        if stopped:
            messages.success(request, "What had not ended is being stopped.")
        else:
            messages.warning(request, "Nothing was running any more.")
        return redirect(_address(begun))

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        shown = compared(self.request)
        rows = _pipelines()
        return {
            **context,
            **shown,
            "form": kwargs.get("form")
            or CompareForm(initial=_initial(self.request, shown), rows=rows),
            "offered": _offered(self.request, rows, shown),
            "may_ask": self.request.user.has_perm(MAY_ASK),
            "part": f"{reverse('admin:tools_pipelineconfig_compared')}?"
            + urlencode({"trial": shown["ids"]}, doseq=True),
        }


class ComparedView(UnfoldModelAdminViewMixin, View):
    """The part of the page that changes until all have answered."""

    title = "Compare pipelines"
    permission_required = MAY_LOOK

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return render(request, "tools/admin/compared.html", compared(request))


def compared(request: HttpRequest) -> dict[str, Any]:
    """The columns of the trials that the address names."""
    ids = _ids(request.GET.getlist("trial"))
    user = request.user.get_username()
    try:
        trials = [find_trial(one, user) for one in ids]
        reachable = all(trials) or others_reachable()
    except Exception:
        # No loop to ask, such as while the service starts; the next look may find one.
        logger.exception("Nobody could be asked about calls from pages")
        trials, reachable = [None for _ in ids], False
    named = [(_name(place, trial), trial) for place, trial in enumerate(trials, start=1)]
    shown = columns(named, reachable=reachable)
    asked = next((one for one in trials if one is not None), None)
    return {
        "ids": ids,
        "columns": shown,
        "matrix": matrix(shown),
        # What cannot be seen now may run all the same; the page looks again by itself.
        "busy": not reachable or any(column["state"] == "running" for column in shown),
        "asked": "" if asked is None else str(asked.arguments.get("query", "")),
        "top_k": None if asked is None else asked.arguments.get("top_k"),
        "may_ask": request.user.has_perm(MAY_ASK),
    }


def _name(place: int, trial: Trial | None) -> str:
    return f"Pipeline {place}" if trial is None else trial.tool.removeprefix(TOOL_PREFIX)


def _pipelines() -> list[Any]:
    rows = PipelineConfig.objects.select_related("tool", "corpus")
    return list(rows.order_by("pipeline_name")[:MOST_COLUMNS])


def _initial(request: HttpRequest, shown: dict[str, Any]) -> dict[str, Any]:
    question = shown["asked"] or request.GET.get("question", "")[:LONGEST_QUERY]
    return {"question": question.replace("\0", ""), "top_k": shown["top_k"]}


def _offered(request: HttpRequest, rows: list[Any], shown: dict[str, Any]) -> list[dict[str, Any]]:
    """The pipelines to choose from; ticked are those that were asked, else all that can answer."""
    asked = {column["name"] for column in shown["columns"]}
    ticked = set(request.POST.getlist("pipelines")) | asked
    known = looks()
    return [
        {
            "name": row.pipeline_name,
            "corpus": row.corpus,
            "look": known.get(row.pipeline_name, "look7"),
            "off": not row.tool.enabled,
            "ticked": row.pipeline_name in ticked if ticked else row.tool.enabled,
        }
        for row in rows
    ]


def _ids(given: list[str]) -> list[str]:
    """What looks like the id of a trial, each once."""
    found = []
    for one in given[:MOST_COLUMNS]:
        try:
            found.append(str(uuid.UUID(one)))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


def _address(ids: list[str]) -> str:
    return f"{reverse(PAGE)}?{urlencode({'trial': ids}, doseq=True)}"
