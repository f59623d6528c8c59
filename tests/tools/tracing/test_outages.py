"""A collector that is away, refuses or hangs: calls do not notice, and the log says so once."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.processes import wait_until
from tests.tools.tracing.collector import Collector
from tests.tools.tracing.conftest import Lines
from tools.conf import TracingSettings
from tools.tracing import begin_spans, start_tracing, stop_tracing

ANY = {"type": "object", "properties": {}}


def told(lines: Lines) -> list[str]:
    """What the log says about the collector, and what packages say beside it."""
    about = ("tools.tracing", "opentelemetry", "urllib3", "requests")
    return [line["message"] for line in lines() if line["logger"].startswith(about)]


def more(collector: Collector, than: int) -> bool:
    return collector.requests > than


def test_a_collector_that_is_away_is_told_of_once_and_once_when_it_is_back(
    traced: Collector, door: RestDoor, lines: Lines
) -> None:
    make_tool(name="echo", input_schema=ANY)
    # Refused for good: the exporter does not try such a batch again.
    traced.status = 400
    for _ in range(3):
        before = traced.requests
        assert door.call("echo").status_code == 200
        wait_until(partial(more, traced, before), what="another batch")
    traced.status = 200
    traced.call(door.call("echo").json()["request_id"])
    wait_until(lambda: len(told(lines)) == 2, what="both lines")
    away, back = told(lines)
    assert away == (
        f"Spans do not reach {traced.url}/v1/traces and are dropped; calls go on as before"
    )
    assert back == f"Spans reach {traced.url}/v1/traces again"


def test_calls_go_on_while_nobody_listens_there(
    traced: Collector, door: RestDoor, lines: Lines
) -> None:
    make_tool(name="echo", input_schema=ANY)
    door.start()
    traced.stop()
    answers = [door.call("echo").status_code for _ in range(300)]
    assert set(answers) == {200}


def test_a_hanging_collector_delays_neither_calls_nor_the_stop(
    traced: Collector, door: RestDoor, lines: Lines
) -> None:
    make_tool(name="echo", input_schema=ANY)
    traced.hanging.set()
    assert door.call("echo").status_code == 200
    wait_until(lambda: traced.requests > 0, what="a batch that hangs")
    # More spans than the queue holds: 2048 of them wait at most.
    assert {door.call("echo").status_code for _ in range(300)} == {200}
    door.stop()
    # Whether it gave up on the first batch meanwhile depends on the machine.
    assert len(told(lines)) <= 1
    assert traced.spans == []


def test_the_last_spans_get_one_second(traced: Collector) -> None:
    traced.hanging.set()
    settings = TracingSettings(f"{traced.url}/v1/traces", "trial")
    start_tracing(lambda: "", settings)
    spans = begin_spans("one", {})
    assert spans is not None
    spans.finish({})
    began = time.monotonic()
    stop_tracing()
    assert time.monotonic() - began < 2
    assert begin_spans("two", {}) is None


def test_nothing_is_tried_again_after_the_end(traced: Collector) -> None:
    # Worth another try, says the standard, and each one waits twice as long.
    traced.status = 503
    start_tracing(lambda: "", TracingSettings(f"{traced.url}/v1/traces", "trial"))
    spans = begin_spans("one", {})
    assert spans is not None
    spans.finish({})
    wait_until(lambda: traced.requests > 0, what="a first try")
    stop_tracing()
    tries = traced.requests
    wait_until(lambda: not exporting(), what="the end of the threads that export")
    assert traced.requests == tries


def exporting() -> list[str]:
    """The threads that send spans or wait for that."""
    names = ("last-spans", "OtelBatchSpan")
    return [one.name for one in threading.enumerate() if one.name.startswith(names)]


def test_spans_are_exported_until_the_last_who_wants_them_stops(traced: Collector) -> None:
    settings = TracingSettings(f"{traced.url}/v1/traces", "trial", "1.2.3")
    start_tracing(lambda: "", settings)
    start_tracing(lambda: "", settings)
    stop_tracing()
    spans = begin_spans("one", {})
    assert spans is not None
    spans.finish({"a": 1})
    stop_tracing()
    (seen,) = traced.spans
    assert (seen.name, seen.attributes) == ("one", {"a": 1})
    assert (seen.resource["service.name"], seen.resource["service.version"]) == ("trial", "1.2.3")


def test_settings_that_contradict_each_other_are_told_and_nothing_is_exported(
    monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1")
    start_tracing(lambda: "", TracingSettings("http://127.0.0.1:9/v1/traces", "trial"))
    assert begin_spans("one", {}) is None
    stop_tracing()
    assert told(lines) == ["No spans are exported"]
