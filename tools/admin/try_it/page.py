"""The pages on which a person calls a tool: choose it, fill in its arguments, watch and end the call."""

from __future__ import annotations

import logging
import time
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import cached_property
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.json_fields import pretty
from tools.admin.try_it.code import as_code
from tools.admin.try_it.filling import Arguments, begin, given, sent
from tools.admin.try_it.result import fault_of, shown_trial
from tools.admin.try_it.rows import change_rows
from tools.admin.try_it.styles import CLASSES
from tools.execution.trials import (
    Trial,
    cancel_trial,
    find_trial,
    others_reachable,
    start_trial,
)
from tools.models import Tool, ToolRequest

logger = logging.getLogger(__name__)

PERMISSION: Final = "tools.change_tool"
SEES_CALLS: Final = "tools.view_toolrequest"
# The box that has the cache passed over.
FRESH: Final = "_fresh"
# Quick calls are over by then, and the page that follows shows their answer at once.
SHORT_WAIT: Final = 0.8
LOOK_EVERY: Final = 0.05
GONE: Final = "This trial is not known. Trials are kept for an hour, and shown to the person who started them."
OUT_OF_REACH: Final = (
    "Redis cannot be reached. Trials of other processes cannot be seen or ended until it is back."
)


class TryView(UnfoldModelAdminViewMixin, TemplateView):
    """The form for one tool's arguments, and below it the trial in the address, if any."""

    title = "Try it"
    permission_required = PERMISSION
    template_name = "tools/admin/try_it.html"
    request: HttpRequest
    tool: Tool

    @override
    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        self.arguments: Arguments | None = None
        self.code: dict[str, Any] = {}

    @override
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if not self.has_permission():
            return self.handle_no_permission()
        self.tool = get_object_or_404(Tool, pk=kwargs["pk"])
        self.title = f"Try {self.tool.name}"
        return super().dispatch(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Run it, unless the form was only to be changed."""
        schema = self.tool.input_schema
        data = change_rows(schema, dict(request.POST.lists()))
        self.arguments, arguments = sent(schema, data)
        if "_show" in data and not self.arguments.faulty:
            self.arguments = self._switched(arguments, as_json=data["_show"] == ["json"])
        if "_code" in data and not self.arguments.faulty:
            self.code = as_code(self.tool, self.arguments, arguments, base_url(request))
        if "_run" not in data or self.arguments.faulty:
            return self.render_to_response(self.get_context_data(**kwargs))
        replay_of = self._replayed()
        trial_id = run(request, self.tool.name, arguments, replay_of, fresh=FRESH in data)
        if trial_id is None:
            return self.render_to_response(self.get_context_data(**kwargs))
        if replay_of:
            address = reverse("admin:tools_toolrequest_replayed", args=[replay_of, trial_id])
        else:
            address = reverse("admin:tools_tool_trial", args=[self.tool.pk, trial_id])
        return redirect(f"{address}#result")

    def _switched(self, arguments: dict[str, Any], *, as_json: bool) -> Arguments:
        """The same arguments in the other form."""
        switched = given(self.tool.input_schema, arguments)
        if as_json:
            return Arguments(switched.form, pretty(arguments))
        if switched.as_json:
            switched.error = "The form cannot hold these arguments. Run them from here."
        return switched

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        trial_id = self.kwargs.get("trial")
        trial = None if trial_id is None else find_trial(str(trial_id), username(self.request))
        if trial is not None and trial.tool != self.tool.name:
            raise Http404
        arguments = self.arguments or self._first(trial)
        if trial is not None and self.arguments is None:
            arguments.point_out(*fault_of(trial))
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {
            **context,
            "tool": self.tool,
            "tool_pk": self.tool.pk,
            "arguments": arguments,
            "replay": self._replayed(),
            "fresh": FRESH in self.request.POST or (trial is not None and trial.fresh),
            "not_filled_in": bool(self._asked_call()) and self._call is None,
            "classes": CLASSES,
            "asked_for": trial_id,
            **({} if trial_id is None or trial is not None else unseen()),
            **(self.code if trial is None else shown_trial(trial, base_url(self.request))),
        }

    def _first(self, trial: Trial | None) -> Arguments:
        """What was sent, or what a call of the log was made with, or the defaults."""
        if trial is not None:
            return given(self.tool.input_schema, dict(trial.arguments))
        call = self._call
        if call is not None and isinstance(call.parameters, dict):
            return given(self.tool.input_schema, call.parameters)
        return begin(self.tool.input_schema)

    @cached_property
    def _call(self) -> ToolRequest | None:
        """The call of the log that is made again: one of this tool, for who may see the log."""
        asked = self._asked_call()
        if not asked or not self.request.user.has_perm(SEES_CALLS):
            return None
        rows = ToolRequest.objects.filter(pk=asked, tool_id=self.tool.name)
        return rows.only("parameters").first()

    def _asked_call(self) -> str:
        return _call_id(self.request.POST.get("replay") or self.request.GET.get("call", ""))

    def _replayed(self) -> str:
        return "" if self._call is None else str(self._call.pk)


class ProgressView(UnfoldModelAdminViewMixin, TemplateView):
    """The part of the page that changes while a trial runs."""

    title = "Progress"
    permission_required = PERMISSION
    template_name = "tools/admin/try_it_progress.html"
    request: HttpRequest

    @override
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        trial = find_trial(str(kwargs["trial"]), username(request))
        shown = unseen() if trial is None else shown_trial(trial, base_url(request))
        return TemplateResponse(request, self.template_name, shown)


class CancelView(UnfoldModelAdminViewMixin, TemplateView):
    """Ends a trial that runs."""

    title = "Cancel"
    permission_required = PERMISSION
    http_method_names = ("post",)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        trial_id = str(kwargs["trial"])
        if cancel_trial(trial_id, username(request)):
            _wait_for(trial_id, username(request))
            messages.success(request, "The call was told to end. The request log has a row of it.")
        elif others_reachable():
            messages.info(request, "Nothing to cancel: the call was over already.")
        else:
            messages.error(request, OUT_OF_REACH)
        trial = find_trial(trial_id, username(request))
        if trial is not None and trial.replay_of:
            return redirect("admin:tools_toolrequest_replayed", trial.replay_of, trial_id)
        return redirect("admin:tools_tool_trial", kwargs["pk"], trial_id)


class ChooseView(UnfoldModelAdminViewMixin, TemplateView):
    """Which tool to try."""

    title = "Try it"
    permission_required = PERMISSION
    template_name = "tools/admin/try_it_choose.html"
    most: Final = 50
    request: HttpRequest

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # No database finds what has a zero character in it.
        asked = self.request.GET.get("q", "").replace("\x00", "").strip()[:100]
        tools = Tool.objects.filter(enabled=True).order_by("name")
        if asked:
            tools = tools.filter(name__icontains=asked) | tools.filter(description__icontains=asked)
        found = list(tools.only("name", "description", "source")[: self.most + 1])
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {
            **context,
            "asked": asked,
            "tools": found[: self.most],
            "more": len(found) > self.most,
            "most": self.most,
            "classes": CLASSES,
        }


def run(
    request: HttpRequest,
    tool: str,
    arguments: dict[str, Any],
    replay_of: str = "",
    *,
    fresh: bool = False,
) -> str | None:
    """Start a trial and wait a moment for it; None when it could not be started, which is told."""
    try:
        caller = username(request)
        trial_id = start_trial(tool, arguments, username=caller, replay_of=replay_of, fresh=fresh)
    except Exception:  # whatever it was, the form stays as it is
        logger.exception("A trial of %s could not be started", tool)
        messages.error(
            request,
            "The call could not be started: this process cannot read the catalogue, or is busy. "
            "Try again; the log of the service has the cause.",
        )
        return None
    _wait_for(trial_id, username(request))
    return trial_id


def unseen() -> dict[str, Any]:
    """Why a trial is not shown. Out of reach it may run all the same; the page looks again by itself."""
    reachable = others_reachable()
    return {"notice": GONE if reachable else OUT_OF_REACH, "out_of_reach": not reachable}


def username(request: HttpRequest) -> str:
    return str(request.user.get_username())


def base_url(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"


def _wait_for(trial_id: str, owner: str) -> None:
    limit = time.monotonic() + SHORT_WAIT
    while time.monotonic() < limit:
        trial = find_trial(trial_id, owner)
        if trial is None or not trial.running:
            return
        time.sleep(LOOK_EVERY)


def _call_id(text: str) -> str:
    try:
        return str(UUID(text)) if text else ""
    except ValueError:
        return ""
