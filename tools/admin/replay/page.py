"""The page that makes a call of the request log again, against today's definition of its tool."""

from __future__ import annotations

import time
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.json_fields import pretty
from tools.admin.replay.answers import kept_answer, new_answer, obstacle_of
from tools.admin.replay.facts import fact_rows
from tools.admin.replay.lines import compare
from tools.admin.request_log.answers import SEES_ANSWERS
from tools.admin.request_log.words import shown_caller
from tools.admin.try_it.page import (
    LOOK_EVERY,
    PERMISSION,
    SEES_CALLS,
    base_url,
    run,
    unseen,
    username,
)
from tools.admin.try_it.result import shown_trial
from tools.contracts import FINAL_STATES
from tools.execution.trials import Trial, find_trial
from tools.models import Tool, ToolRequest
from tools.selectors.live import caller_names

MAY_REPLAY: Final = (PERMISSION, SEES_CALLS)
# How long the row of the new call is waited for; it is written a moment after the answer.
ROW_SECONDS: Final = 1.0


class ReplayMixin(ModelAdmin):
    """Gives the page of a call the way to its replay."""

    actions_detail = ("replay_call",)

    @override
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(ReplayView.as_view(model_admin=self))
        pages = (("", "replay"), ("<uuid:trial>/", "replayed"))
        return [
            *(
                path(f"<uuid:pk>/replay/{rest}", view, name=f"tools_toolrequest_{name}")
                for rest, name in pages
            ),
            *super().get_urls(),
        ]

    def has_replay_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perms(MAY_REPLAY)

    @action(description="Replay", permissions=["replay"])  # type: ignore[untyped-decorator]
    def replay_call(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What would be run, and the button that does it."""
        return redirect("admin:tools_toolrequest_replay", object_id)


class ReplayView(UnfoldModelAdminViewMixin, TemplateView):
    """A call of the log, its replay, and what differs."""

    title = "Replay a call"
    permission_required = MAY_REPLAY
    template_name = "tools/admin/replay.html"
    request: HttpRequest

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Make the call again."""
        row = get_object_or_404(ToolRequest, pk=kwargs["pk"])
        if obstacle_of(row) is not None:
            messages.error(request, "This call cannot be repeated as it is; see below why.")
            return redirect("admin:tools_toolrequest_replay", row.pk)
        trial_id = run(request, row.tool_id, row.parameters, str(row.pk))
        if trial_id is None:
            return redirect("admin:tools_toolrequest_replay", row.pk)
        return redirect("admin:tools_toolrequest_replayed", row.pk, trial_id)

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        row = get_object_or_404(ToolRequest, pk=self.kwargs["pk"])
        tool = Tool.objects.filter(name=row.tool_id).first()
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context |= {
            "call": row,
            "caller": shown_caller(row, caller_names([row.caller])),
            "tool": tool,
            # Those of a tool that is gone are reached all the same.
            "tool_pk": 0 if tool is None else tool.pk,
            "arguments_text": pretty(row.parameters),
            "obstacle": obstacle_of(row),
            "changed_since": tool is not None and tool.updated_at > row.received_at,
            "fill_in": "" if tool is None else _fill_in(tool, row),
        }
        return context | self._trial(row, tool, context["caller"])

    def _trial(self, row: ToolRequest, tool: Tool | None, caller: str) -> dict[str, Any]:
        trial_id = self.kwargs.get("trial")
        if trial_id is None:
            return {}
        trial = find_trial(str(trial_id), username(self.request))
        if trial is None:
            return unseen() | {"asked_for": trial_id}
        if trial.replay_of != str(row.pk):
            raise Http404
        shown = shown_trial(trial, base_url(self.request))
        if trial.running:
            return shown
        seen = self.request.user.has_perm(SEES_ANSWERS)
        beside = {"facts_beside": fact_rows(row, trial, caller)}
        return shown | beside | _compared(row, trial, tool, seen=seen)


def _compared(row: ToolRequest, trial: Trial, tool: Tool | None, *, seen: bool) -> dict[str, Any]:
    """`seen`: the person may see what the log keeps of answers. That of the replay is theirs."""
    made = _row_of(UUID(trial.call_id)) if trial.outcome and trial.outcome.journalled else None
    old, new = kept_answer(row, seen=seen), new_answer(trial, made, tool, seen=seen)
    return {
        "old": old,
        "new": new,
        "compared": compare(old.text, new.text) if old.whole and new.whole else None,
        "begins_alike": bool(old.text) and not old.whole and _begins(new.text, old.text),
    }


def _begins(new: str, old: str) -> bool:
    """Whether the kept beginning is what the new answer begins with, however it is indented."""
    return "".join(new.split()).startswith("".join(old.split()))


def _row_of(call_id: UUID) -> ToolRequest | None:
    """The row of the new call, once it is written."""
    limit = time.monotonic() + ROW_SECONDS
    while True:
        row = ToolRequest.objects.filter(pk=call_id).first()
        if (row is not None and row.state in FINAL_STATES) or time.monotonic() > limit:
            return row
        time.sleep(LOOK_EVERY)


def _fill_in(tool: Tool, row: ToolRequest) -> str:
    return f"{reverse('admin:tools_tool_try', args=[tool.pk])}?call={row.pk}"
