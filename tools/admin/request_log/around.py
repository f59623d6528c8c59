"""What is around a call: its neighbours, its tool and its caller, and the calls it belongs with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

from django.urls import reverse

from tools.admin.request_log import addresses
from tools.models import ApiClient, Tool, ToolRequest
from tools.selectors.request_log import Cursor

AROUND: Final = timedelta(minutes=5)
_CLIENT: Final = "client:"
May = Callable[[str], bool]
Link = tuple[str, str]


def neighbours(row: ToolRequest) -> dict[str, str]:
    """The pages of the calls that arrived before and after."""
    rows, place = ToolRequest.objects.all(), Cursor.at(row)
    earlier = place.older(rows).order_by("-received_at", "-pk")
    later = place.newer(rows).order_by("received_at", "pk")
    found = {
        "earlier": earlier.values_list("pk", flat=True).first(),
        "later": later.values_list("pk", flat=True).first(),
    }
    return {name: addresses.one(pk) for name, pk in found.items() if pk is not None}


def links(row: ToolRequest, may: May) -> list[Link]:
    """Titles and addresses, for a person with these permissions."""
    since, until = row.received_at - AROUND, row.received_at + AROUND
    minutes = int(AROUND.total_seconds() // 60)
    return [
        *_tool(row, may),
        *_client(row, may),
        (
            f"This caller's calls, {minutes} minutes before to {minutes} after",
            addresses.of_caller(row.caller, since, until),
        ),
        (f"All calls in these {2 * minutes} minutes", addresses.calls(since, until)),
        *_together(row),
    ]


def _tool(row: ToolRequest, may: May) -> Iterator[Link]:
    if row.tool_id:
        yield f"Calls of {row.tool_id}", addresses.of_tool(row.tool_id)
    if may("tools.view_tool"):
        found = Tool.objects.filter(name=row.tool_id).values_list("pk", flat=True).first()
        if found is not None:
            yield f"Tool {row.tool_id}", reverse("admin:tools_tool_change", args=[found])


def _client(row: ToolRequest, may: May) -> Iterator[Link]:
    number = row.caller.removeprefix(_CLIENT)
    if not row.caller.startswith(_CLIENT) or not number.isdecimal() or len(number) > 18:
        return
    name = ApiClient.objects.filter(pk=int(number)).values_list("name", flat=True).first()
    if name is not None and may("tools.view_apiclient"):
        yield f"Client {name}", reverse("admin:tools_apiclient_change", args=[int(number)])


def _together(row: ToolRequest) -> Iterator[Link]:
    if row.correlation_id:
        yield (
            "Calls of the same correlation",
            addresses.calls(correlation_id__exact=row.correlation_id),
        )
    if row.thread_id:
        yield "Calls of the same thread", addresses.calls(thread_id__exact=row.thread_id)
    yield "Calls with the same request id", addresses.calls(q=str(row.request_id))
