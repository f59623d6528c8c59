"""The stages in the row of a call, through the REST door, and what the waterfall makes of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tests.processes import wait_until
from tools.admin.request_log.life import Bar, life
from tools.models import ToolRequest


def row(door: RestDoor, arguments: dict[str, object] | None = None) -> ToolRequest:
    """The row of a call of `echo`."""
    return row_of(door.call("echo", arguments or {}).json()["request_id"])


def names(call: ToolRequest) -> list[str]:
    return [bar.name for bar in life(call).bars]


def longest(call: ToolRequest) -> str:
    return max(life(call).bars, key=lambda bar: float(bar.width)).name


def last(call: ToolRequest) -> Bar:
    return life(call).bars[-1]


def test_the_wait_for_a_slot_is_not_counted_as_the_backend(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo", max_concurrent=1, queue_timeout_seconds=20)
    door.start()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(row, door, {"delay": 1.5})
        wait_until(lambda: backend.calls.get("echo") == 1, what="a running call")
        waited = row(door)
        worked = first.result()
    assert longest(waited) == "Wait for a slot"
    assert waited.stages["slot"] > waited.stages["backend"]
    assert longest(worked) == "Backend"
    assert worked.stages["slot"] < worked.stages["backend"]
    assert last(waited).look == "done"


def test_an_answer_of_the_cache_took_no_slot_and_no_backend(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo", cache_ttl_seconds=60, max_concurrent=2)
    first, second = row(door), row(door)
    assert list(first.stages) == ["validation", "rate", "cache", "slot", "backend", "budget"]
    assert list(second.stages) == ["validation", "rate", "cache", "budget"]
    assert names(second)[2:4] == ["Cache", "Token budget"]
    assert second.cache_hit is True


def test_waiting_for_a_call_that_asks_the_same_counts_as_the_cache(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo", cache_ttl_seconds=60)
    door.start()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(row, door, {"delay": 1.5})
        wait_until(lambda: backend.calls.get("echo") == 1, what="a running call")
        followed = row(door, {"delay": 1.5})
        worked = first.result()
    assert backend.calls == {"echo": 1}
    assert (longest(followed), longest(worked)) == ("Cache", "Backend")
    assert "backend" not in followed.stages


def test_a_tool_without_cache_and_limit_spent_nothing_there(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    call = row(door)
    assert (call.stages["cache"], call.stages["slot"]) == (0.0, 0.0)
    assert {"Cache", "Wait for a slot"}.isdisjoint(names(call))


def test_a_call_that_found_no_slot_failed_there(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo", max_concurrent=1, queue_timeout_seconds=0)
    door.start()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(door.call, "echo", {"delay": 1.5})
        wait_until(lambda: backend.calls.get("echo") == 1, what="a running call")
        refused = row(door)
        first.result()
    assert (refused.code, last(refused).name, last(refused).look) == (
        "RATE_LIMITED",
        "Wait for a slot",
        "wrong",
    )


def test_a_call_that_the_breaker_refused_failed_at_the_backend(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo", dependency="todo-server", cache_ttl_seconds=60, max_concurrent=1)
    for _ in range(5):
        row(door, {"fail": "transport"})
    refused = row(door)
    assert backend.calls == {"echo": 5}
    assert names(refused) == ["Validation", "Rate limit", "Cache", "Wait for a slot", "Backend"]
    assert (last(refused).look, last(refused).about) == ("wrong", "here it failed")


def test_a_call_that_ran_out_of_time_did_so_at_the_backend(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo", timeout_seconds=1)
    call = row(door, {"delay": 30})
    assert (call.code, longest(call), last(call).look) == ("TIMEOUT", "Backend", "wrong")


def test_a_call_refused_before_the_cache_failed_where_it_was_refused(
    door: RestDoor, backend: FakeBackend
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    make_tool(name="echo", input_schema=schema)
    call = row(door, {"n": "one"})
    assert call.stages == {}
    assert (last(call).name, last(call).look) == ("Validation", "wrong")


def test_a_bug_in_a_backend_is_told_as_its_failure(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    row(door, {"fail": "bug"})
    (call,) = rows()
    assert (last(call).name, last(call).look) == ("Backend", "wrong")
