"""Journal events become exactly one row per call, in any order and however often they come."""

from __future__ import annotations

import itertools
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from tests.events import closing, opening
from tools.contracts import CallState, IllegalTransition, time_ordered_uuid
from tools.models import ToolRequest, ToolResponse

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_any_order_and_any_repetition_gives_the_same_row(order: tuple[int, ...]) -> None:
    # S0-033 S0-052
    call_id = str(time_ordered_uuid())
    events = [opening(call_id), opening(call_id), closing(call_id), closing(call_id)]
    for position in order:
        ToolRequest.objects.apply([events[position]])
    row = ToolRequest.objects.get()
    assert (row.state, row.status, row.code) == ("completed", "success", "")
    assert row.response.body == '{"ok": true}'
    assert row.response.response_id == row.request_id  # S0-051


def test_a_batch_of_both_events_writes_the_closed_row() -> None:
    call_id = str(time_ordered_uuid())
    ToolRequest.objects.apply([opening(call_id), closing(call_id)])
    assert ToolRequest.objects.get().state == "completed"


def test_a_final_row_is_never_changed() -> None:
    # S0-035
    call_id = str(time_ordered_uuid())
    ToolRequest.objects.apply([closing(call_id)])
    ToolRequest.objects.apply([closing(call_id, state="failed", status="failure", code="TIMEOUT")])
    assert ToolRequest.objects.get().status == "success"


def test_two_calls_with_one_request_id_are_two_rows() -> None:
    request_id = str(uuid.uuid4())
    for _ in range(2):
        ToolRequest.objects.apply([closing(str(time_ordered_uuid()), request_id=request_id)])
    assert ToolRequest.objects.filter(request_id=request_id).count() == 2


def test_calls_that_never_closed_are_failed_after_their_deadline() -> None:
    now = datetime.now(UTC)
    overdue, running = str(time_ordered_uuid()), str(time_ordered_uuid())
    ToolRequest.objects.apply(
        [
            opening(overdue, deadline_at=(now - timedelta(seconds=9)).isoformat()),
            opening(running, deadline_at=(now + timedelta(seconds=9)).isoformat()),
        ]
    )
    assert ToolRequest.objects.sweep(now) == 1
    swept = ToolRequest.objects.get(pk=overdue)
    assert (swept.state, swept.status, swept.code) == ("failed", "failure", "INTERNAL_ERROR")
    assert swept.finished_at is not None
    assert ToolRequest.objects.get(pk=running).state == "received"


def test_rows_advance_only_along_the_allowed_ways() -> None:
    # S0-034 S0-035 T02
    ToolRequest.objects.apply([opening(str(time_ordered_uuid()))])
    row = ToolRequest.objects.get()
    with pytest.raises(IllegalTransition):
        row.advance(CallState.COMPLETED)
    for following in (CallState.VALIDATING, CallState.EXECUTING, CallState.COMPLETED):
        row.advance(following)
    assert row.state == "completed"


@pytest.mark.parametrize(
    "changes",
    [
        {"duration_ms": -1.0},  # S0-050 S2-038
        {"state": "completed", "status": "failure", "code": "TIMEOUT"},  # S2-041
        {"state": "failed", "status": "success", "code": ""},
        {"state": "completed", "finished_at": None},
    ],
)
def test_the_database_refuses_rows_that_contradict_themselves(changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError):
        ToolRequest.objects.apply([closing(str(time_ordered_uuid()), **changes)])


def test_pruning_removes_old_rows_and_their_bodies_in_chunks() -> None:
    # S0-032
    now = datetime.now(UTC)
    for age in (1, 10, 31, 32, 33):
        received = (now - timedelta(days=age)).isoformat()
        ToolRequest.objects.apply([closing(str(time_ordered_uuid()), received_at=received)])
    assert ToolRequest.objects.prune(now - timedelta(days=30), chunk=2) == 3
    assert ToolRequest.objects.count() == 2
    assert ToolResponse.objects.count() == 2


def test_calls_relate_to_their_tool_by_name_and_survive_without_it() -> None:
    # S0-016 S0-019
    ToolRequest.objects.apply([closing(str(time_ordered_uuid()), tool="never_existed")])
    assert ToolRequest.objects.filter(tool_id="never_existed").count() == 1
