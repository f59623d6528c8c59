"""Looking into the request log from tests."""

from __future__ import annotations

from tests.processes import wait_until
from tools.contracts import FINAL_STATES
from tools.models import ToolRequest


def rows() -> list[ToolRequest]:
    """Every row, oldest first."""
    return list(ToolRequest.objects.order_by("received_at", "call_id"))


def row_of(request_id: str) -> ToolRequest:
    """The one row of a call, once it is final."""

    def final() -> bool:
        found = ToolRequest.objects.filter(request_id=request_id)
        return any(row.state in FINAL_STATES for row in found)

    wait_until(final, what=f"a final row of {request_id}")
    found: ToolRequest = ToolRequest.objects.get(request_id=request_id)
    return found
