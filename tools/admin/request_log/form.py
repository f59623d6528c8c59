"""The filters of the request log: what may stand in its address, and the form that writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils import timezone
from typing_extensions import override

from tools.admin.request_log.fields import (
    Milliseconds,
    Moment,
    Place,
    Statuses,
    Truth,
    chosen,
    typed,
)
from tools.contracts import CallState, ToolSource, Transport
from tools.errors import ErrorCode
from tools.models import ApiClient, Tool
from tools.selectors.request_log import Sought, resolved

PRESETS: Final = {
    "15m": ("last 15 minutes", timedelta(minutes=15)),
    "1h": ("last hour", timedelta(hours=1)),
    "24h": ("last 24 hours", timedelta(hours=24)),
    "7d": ("last 7 days", timedelta(days=7)),
}
# Other names that links of old, and of the model's fields, have for these.
ALIASES: Final = {
    "status__exact": "status__in",
    "status": "status__in",
    "source__exact": "source",
    "tool": "tool__exact",
    "caller": "caller__exact",
    "code": "code__exact",
    "state": "state__exact",
    "transport": "transport__exact",
}
CACHED: Final = {"1": "hit", "true": "hit", "0": "miss", "false": "miss"}
# Of the page itself and of Django's own lists; they say nothing about calls.
IGNORED: Final = {
    *("renew", "part"),
    *("e", "o", "p", "all", "_facets", "_popup", "_to_field", "_changelist_filters"),
}
MOST_OFFERED: Final = 1000
CONTRADICTION: Final = "This is before the other time."


class FilterForm(forms.Form):
    """Read from the address of the list; every field may be empty."""

    text = typed("Text", "in question, arguments or error")
    tool__exact = typed("Tool", "whole name", list="log-tools")
    caller__exact = typed("Caller", "client's name, admin:…", list="log-callers")
    status__in = Statuses()
    code__exact = chosen("Code", ErrorCode)
    within = chosen("Time", [(name, told) for name, (told, _) in PRESETS.items()])
    received_at__gte = Moment("From")
    received_at__lt = Moment("Until before")
    duration_ms__gte = Milliseconds("At least, ms")
    duration_ms__lte = Milliseconds("At most, ms")
    cache = chosen(
        "Cache",
        [("hit", "hit"), ("miss", "miss"), ("none", "not asked")],
    )
    state__exact = chosen("State", CallState)
    transport__exact = chosen("Transport", Transport)
    source = chosen("Source", ToolSource)
    q = typed("Id or name", "request, call, correlation or thread id")
    # Not on the form: links lead to these.
    correlation_id__exact = forms.CharField(
        required=False, max_length=128, widget=forms.HiddenInput()
    )
    thread_id__exact = forms.CharField(required=False, max_length=128, widget=forms.HiddenInput())
    finished_at__isnull = Truth()
    tokens_after__isnull = Truth()
    shortened = Truth()
    before = Place()
    after = Place()

    def __init__(self, query: QueryDict) -> None:
        self.unknown: list[str] = []
        super().__init__(self._taken(query))

    def _taken(self, query: QueryDict) -> dict[str, str]:
        """The filters of an address, by the names they have here."""
        taken: dict[str, str] = {}
        for name in query:
            value = query.get(name) or ""
            known = ALIASES.get(name, name)
            if name == "cache_hit__exact":
                taken["cache"] = CACHED.get(value.lower(), value)
            elif name == "cache_hit__isnull":
                taken["cache"] = "none" if value.lower() in {"1", "true"} else ""
            elif known in self.base_fields:
                taken[known] = value
            elif name not in IGNORED:
                self.unknown.append(name)
        return taken

    @override
    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        for name in self.unknown:
            self.add_error(None, f"The log has no filter named {name[:60]}.")
        for name, value in given.items():
            if isinstance(value, str) and "\x00" in value:
                self.add_error(name, "This holds a character that no text has.")
        since, until = given.get("received_at__gte"), given.get("received_at__lt")
        if since and until and until < since:
            self.add_error("received_at__lt", CONTRADICTION)
        return given

    def sought(self) -> Sought:
        """What a valid form asks for."""
        given = self.cleaned_data
        sought = Sought(
            tool=given["tool__exact"],
            caller=_reference(given["caller__exact"]),
            statuses=given["status__in"],
            code=given["code__exact"],
            state=given["state__exact"],
            transport=given["transport__exact"],
            source=given["source"],
            cache=given["cache"],
            since=_later(given["received_at__gte"], given["within"]),
            until=given["received_at__lt"],
            least_ms=given["duration_ms__gte"],
            most_ms=given["duration_ms__lte"],
            text=given["text"],
            correlation=given["correlation_id__exact"],
            thread=given["thread_id__exact"],
            running=given["finished_at__isnull"],
            counted_tokens=_negated(given["tokens_after__isnull"]),
            shortened=given["shortened"],
        )
        return resolved(sought, given["q"])

    def filters(self) -> dict[str, str]:
        """The address's own filters without its place, as they are written in links."""
        return {
            name: str(self.data[name])
            for name in self.fields
            if name not in {"before", "after"} and self.data.get(name)
        }

    def told(self) -> Iterator[tuple[str, str, str]]:
        """Name, label and value of each filter that is set."""
        for name, value in self.filters().items():
            yield name, _LABELS.get(name) or str(self.fields[name].label), _shown(self, name, value)

    def offered(self, user: Any) -> Mapping[str, list[str]]:
        """Names to choose from while typing, of what `user` may look at."""
        return {"tools": _names(Tool, user), "callers": _names(ApiClient, user)}


def _names(model: Any, user: Any) -> list[str]:
    # As in Django's pages, who may change rows may look at them.
    kind = model._meta.model_name
    if not any(user.has_perm(f"tools.{may}_{kind}") for may in ("view", "change")):
        return []
    return list(model.objects.order_by("name").values_list("name", flat=True)[:MOST_OFFERED])


_LABELS: Final = {
    "correlation_id__exact": "Correlation id",
    "thread_id__exact": "Thread id",
    "finished_at__isnull": "Under way",
    "tokens_after__isnull": "Tokens not counted",
    "shortened": "Answer shortened",
    "duration_ms__gte": "Took at least, ms",
    "duration_ms__lte": "Took at most, ms",
}


def _shown(form: FilterForm, name: str, value: str) -> str:
    if name == "within":
        return PRESETS[value][0] if value in PRESETS else value
    moment = form.cleaned_data.get(name)
    if isinstance(moment, datetime):
        return f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}"
    return {"True": "yes", "False": "no"}.get(value, value)


def _reference(caller: str) -> str:
    """A caller as the log names it; API clients are known to people by their names."""
    if not caller:
        return ""
    found = ApiClient.objects.filter(name=caller).values_list("pk", flat=True).first()
    return caller if found is None else f"client:{found}"


def _later(since: datetime | None, preset: str) -> datetime | None:
    if not preset:
        return since
    begins = datetime.now(UTC) - PRESETS[preset][1]
    return begins if since is None else max(since, begins)


def _negated(value: bool | None) -> bool | None:
    return None if value is None else not value
