"""What is around a call: its tool and its caller, and the calls it belongs with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

from django.urls import reverse

from tools.admin.request_log import addresses
from tools.admin.request_log.fields import is_findable
from tools.models import ApiClient, Tool, ToolRequest

AROUND: Final = timedelta(minutes=5)
_CLIENT: Final = "client:"
May = Callable[[str], bool]
Link = tuple[str, str]


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
    if is_findable(row.tool_id):
        yield f"Calls of {row.tool_id}", addresses.of_tool(row.tool_id)
    if page := tool_page(row.tool_id, may):
        yield f"Tool {row.tool_id}", page


def tool_page(name: str, may: May) -> str:
    """The page of the tool, if there is one and the person may look at it."""
    if not name or not may("tools.view_tool"):
        return ""
    found = Tool.objects.filter(name=name).values_list("pk", flat=True).first()
    return "" if found is None else reverse("admin:tools_tool_change", args=[found])


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
