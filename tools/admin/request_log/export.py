"""The filtered log as a file: row after row, up to a limit. A file that was cut names where the rest is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.views.generic import View
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.request_log import addresses, formats
from tools.admin.request_log.answers import SEES_ANSWERS
from tools.admin.request_log.form import FilterForm
from tools.admin.request_log.formats import COLUMNS, FORMATS, Cut, Portion
from tools.admin.slow_pages import Place, take_place, too_many
from tools.models import ToolRequest, ToolResponse
from tools.models.audit import Action
from tools.selectors.live import caller_names
from tools.selectors.request_log import Cursor, Sought, stream, way_to
from tools.services.audit.recording import record_action

# A file that is fetched slowly keeps a thread of the admin all the while; half of the slow pages may be such.
MOST_AT_ONCE: Final = 2
BUSY: Final = "Two exports are under way. Wait until one of them is done, then export again."

_places = threading.BoundedSemaphore(MOST_AT_ONCE)


class ExportView(UnfoldModelAdminViewMixin, View):
    """CSV or JSON lines of what the list would show."""

    title = "Export"
    permission_required = "tools.view_toolrequest"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        query = request.GET.copy()
        kind, answers = query.pop("format", ["csv"])[-1], "answers" in query
        query.pop("answers", None)
        if answers and not request.user.has_perm(SEES_ANSWERS):
            raise PermissionDenied
        form = FilterForm(query)
        if kind not in FORMATS or not form.is_valid():
            messages.error(request, "Nothing was exported: mend the filters first.")
            return redirect(f"{addresses.calls()}?{query.urlencode()}")
        media, ending, written = FORMATS[kind]
        note = f"As {kind}, {'with' if answers else 'without'} answers. Filters: {query.urlencode() or 'none'}."
        chosen = {"format": kind, **({"answers": "1"} if answers else {})}
        rest = partial(_rest, request.build_absolute_uri(request.path), form, chosen)
        if not _places.acquire(blocking=False):
            return too_many(request, BUSY, 30)
        if (place := take_place()) is None:
            _places.release()
            return too_many(request)
        held = _Held(written(_rows(form, rest, answers=answers), answers), place)
        try:
            # Not before there is a place: what was refused took nothing away.
            record_action(Action.EXPORTED, "request log", "request log", note=note)
        except BaseException:
            held.close()
            raise
        name = f"calls-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.{ending}"
        return StreamingHttpResponse(
            held,
            content_type=f"{media}; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                "Cache-Control": "no-store",
                # For proxies that would otherwise gather the whole.
                "X-Accel-Buffering": "no",
            },
        )


class _Held:
    """What is sent, with places among exports and slow pages that are given back at its end, however it comes."""

    def __init__(self, parts: Iterator[str], place: Place) -> None:
        self._parts = parts
        self._place = place
        self._open = True

    def __iter__(self) -> Iterator[bytes]:
        # Halves of characters, which no encoding knows, are not to end the file.
        return (part.encode("utf-8", "replace") for part in self._parts)

    def close(self) -> None:
        if self._open:
            self._open = False
            _places.release()
            self._place.give_back()


def _rows(
    form: FilterForm, rest: Callable[[Sought, Cursor | None], str], *, answers: bool
) -> Iterator[Portion | Cut]:
    """Portions of calls, as they are written; at last where the `rest` is, if there are more than may be.

    Looking for what is nowhere may take longer than anybody waits: that ends, too.
    """
    left, ends_at = formats.MOST_EXPORTED, time.monotonic() + formats.LONGEST_SECONDS
    sought, place = form.sought(), form.cleaned_data["before"]
    for found in stream(way_to(sought), place):
        rows = found.rows[:left]
        if rows:
            yield _told(rows, answers=answers)
        if len(found.rows) > len(rows):
            place = Cursor.at(rows[-1]) if rows else place
            yield Cut(formats.CUT.format(formats.MOST_EXPORTED), rest(sought, place))
            return
        left, place = left - len(rows), found.older
        if place is not None and time.monotonic() > ends_at:
            yield Cut(formats.LATE.format(formats.LONGEST_SECONDS), rest(sought, place))
            return


def _rest(
    here: str, form: FilterForm, chosen: Mapping[str, str], sought: Sought, place: Cursor | None
) -> str:
    """Where the calls before a place are exported: of the same filters, in the same way."""
    kept = form.filters()
    if kept.pop("within", "") and sought.since is not None:
        # Counted from now, the time would begin later for each part.
        kept["received_at__gte"] = sought.since.isoformat()
    return f"{here}?{urlencode({**kept, **chosen, 'before': str(place or '')})}"


def _told(rows: Sequence[ToolRequest], *, answers: bool) -> Portion:
    names = caller_names({row.caller for row in rows})
    told = [{name: _value(row, name, names) for name in COLUMNS} for row in rows]
    if answers:
        kept = ToolResponse.objects.in_bulk([row.pk for row in rows])
        for row, one in zip(rows, told, strict=True):
            answer = kept.get(row.pk)
            one["answer"] = answer.body if answer else None
            one["answer_truncated"] = answer.truncated if answer else None
    return told


def _value(row: ToolRequest, name: str, names: Mapping[str, str]) -> Any:
    match name:
        case "tool":
            return row.tool_id
        case "client":
            return names.get(row.caller, "")
        case "arguments":
            return row.parameters
        case "call_id" | "request_id":
            return str(getattr(row, name))
        case "received_at" | "finished_at":
            moment = getattr(row, name)
            return None if moment is None else moment.astimezone(UTC).isoformat()
        case _:
            return getattr(row, name)
