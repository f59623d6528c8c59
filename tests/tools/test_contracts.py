"""The values that travel: what they refuse, how they look on the wire."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest

from tools.contracts import (
    CALL_TRANSITIONS,
    CallerKind,
    CallState,
    Credentials,
    Envelope,
    IllegalTransition,
    ServiceState,
    ToolSource,
    ToolSpec,
    advance,
    iso_time,
    next_service_state,
    time_of,
    time_ordered_uuid,
    wire_time,
)
from tools.errors import ErrorCode

ID = uuid.uuid4()


@pytest.mark.parametrize(
    "values",
    [
        {"success": True},
        {"success": True, "data": {}, "error": "no"},
        {"success": True, "data": {}, "code": ErrorCode.TIMEOUT},
        {"success": False, "error": "no"},
        {"success": False, "code": ErrorCode.TIMEOUT},
        {"success": False, "error": "no", "code": ErrorCode.TIMEOUT, "data": {}},
        {"success": True, "data": {}, "meta": {"execution_time_ms": -1}},
        {"success": True, "data": {}, "meta": {"execution_time_ms": 1.5}},
    ],
)
def test_an_envelope_that_contradicts_itself_cannot_be_built(values: dict[str, Any]) -> None:
    # S3-003 S3-004 S3-011
    with pytest.raises(ValueError, match=r"has|must"):
        Envelope(request_id=ID, **values)


def test_an_envelope_needs_a_version_4_id() -> None:
    # S3-007
    with pytest.raises(ValueError, match="version 4"):
        Envelope(request_id=uuid.uuid1(), success=True, data={})


def test_times_on_the_wire_have_milliseconds_and_z() -> None:
    # S3-009 C08 T11
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_912, tzinfo=timezone(timedelta(hours=2)))
    assert wire_time(moment) == "2026-01-02T01:04:05.678Z"
    assert wire_time(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02T03:04:05.000Z"


@pytest.mark.parametrize("microsecond", [0, 1, 678_912, 999_999])
def test_times_of_the_journal_are_written_as_python_writes_them(microsecond: int) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, microsecond, tzinfo=UTC)
    assert iso_time(moment) == moment.isoformat()


def test_calls_move_only_along_the_allowed_ways() -> None:
    # S0-034 S0-035 T02
    allowed = {(old, new) for old, following in CALL_TRANSITIONS.items() for new in following}
    assert allowed == {
        (CallState.RECEIVED, CallState.VALIDATING),
        (CallState.VALIDATING, CallState.EXECUTING),
        (CallState.VALIDATING, CallState.FAILED),
        (CallState.EXECUTING, CallState.COMPLETED),
        (CallState.EXECUTING, CallState.FAILED),
    }
    for old in CallState:
        for new in CallState:
            if (old, new) in allowed:
                assert advance(old, new) is new
            else:
                with pytest.raises(IllegalTransition):
                    advance(old, new)


def test_services_move_only_along_the_allowed_ways() -> None:
    # S3-038 S3-039 S3-040 S3-041 S3-042
    state = ServiceState.INITIALIZING
    for following in ("HEALTHY", "DEGRADED", "HEALTHY", "SHUTTING_DOWN", "STOPPED"):
        state = next_service_state(state, ServiceState(following))
    for living in (ServiceState.INITIALIZING, ServiceState.HEALTHY, ServiceState.DEGRADED):
        assert next_service_state(living, ServiceState.SHUTTING_DOWN)
    for old, new in (("STOPPED", "HEALTHY"), ("SHUTTING_DOWN", "HEALTHY"), ("HEALTHY", "STOPPED")):
        with pytest.raises(IllegalTransition):
            next_service_state(ServiceState(old), ServiceState(new))


def test_call_ids_sort_by_arrival_and_tell_their_time() -> None:
    ids = [time_ordered_uuid() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(time_of(first) <= time_of(second) for first, second in pairwise(ids))
    assert {call_id.version for call_id in ids} == {7}
    assert abs(time_of(ids[-1]) - datetime.now(UTC)) < timedelta(seconds=5)


def test_a_secret_does_not_show_in_a_repr() -> None:
    assert "hunter2" not in repr(Credentials(kind=CallerKind.API_KEY, secret="hunter2"))


@pytest.mark.parametrize(
    ("source", "dependency", "binding", "behind"),
    [
        (ToolSource.UPSTREAM, "mcp:todo", {}, "mcp:todo"),
        (ToolSource.HTTP_API, "api:nsip", {}, "api:nsip"),
        (ToolSource.PIPELINE, "", {"pipeline": "crag"}, "pipeline:crag"),
        (ToolSource.PIPELINE, "", {}, "pipeline:one"),
        (ToolSource.PIPELINE, "shared", {"pipeline": "crag"}, "shared"),
        (ToolSource.BUILTIN, "", {}, ""),
    ],
)
def test_calls_are_counted_under_what_is_behind_a_tool(
    source: ToolSource, dependency: str, binding: dict[str, Any], behind: str
) -> None:
    spec = ToolSpec("one", "For trying.", {}, source, "one", dependency=dependency, binding=binding)
    assert spec.behind == behind
