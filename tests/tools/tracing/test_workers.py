"""Calls that go through worker processes: their spans hang together, their log lines share the ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.processes import wait_until
from tests.tools.backends.pipeline.conftest import SETTINGS
from tests.tools.backends.pipeline.rows import make_trial
from tests.tools.mcp_server.clients import Way, user_of
from tests.tools.mcp_server.task_client import TaskClient
from tests.tools.tracing.collector import STAGES, Collector
from tests.tools.tracing.conftest import Lines, read_lines
from tests.workers import Worker, celery_worker

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
ANY = {"type": "object", "properties": {}}


@pytest.fixture
def pipelines(traced: Collector, door: RestDoor, tmp_path: Path) -> Iterator[Worker]:
    """A worker for queries that exports to the same collector: its environment is ours."""
    with celery_worker(
        tmp_path / "worker.log", 1, queues=("rag.trial",), DJANGO_SETTINGS_MODULE=SETTINGS
    ) as started:
        yield started


def bugs(worker: Worker) -> list[dict[str, Any]]:
    """What a worker logged about queries that failed on a bug."""
    named = [line for line in read_lines(worker.output) if "exception" in line]
    return [line for line in named if line["logger"] == "tools.execution.queries"]


@pytest.mark.parametrize("transport", ["rest", "streamable_http"])
def test_the_workers_spans_are_below_the_stage_that_waits_for_it(
    traced: Collector, door: RestDoor, pipelines: Worker, transport: str
) -> None:
    make_trial()
    if transport == "rest":
        answer = door.call("rag_trial", {"query": "moon?"}, headers={"traceparent": PARENT})
        request_id = answer.json()["request_id"]
    else:
        door.start()
        with user_of(door.url, Way(transport, "auto")) as user:
            result = user.call("rag_trial", {"query": "moon?"}, meta={"traceparent": PARENT})
        request_id = result.meta["request_id"]
    call = traced.call(request_id)
    query = traced.find(lambda span: span.name == "query trial")
    assert (call.trace_id, call.parent_id) == tuple(PARENT.split("-")[1:3])
    assert tuple(span.name for span in traced.below(call)) == STAGES
    assert (query.trace_id, query.parent_id) == (
        call.trace_id,
        traced.stages(call)["backend"].span_id,
    )
    assert [span.name for span in traced.below(query)] == ["retrieve", "rerank", "generate"]
    assert query.kind == "SERVER"
    assert query.attributes["controlplane.request_id"] == request_id
    assert query.resource["process.pid"] in pipelines.children()
    assert call.resource["process.pid"] != query.resource["process.pid"]
    assert call.resource["service.name"] == query.resource["service.name"]


def test_a_tool_that_a_query_calls_is_below_the_step_that_called_it(
    traced: Collector, door: RestDoor, pipelines: Worker
) -> None:
    make_trial()
    make_tool(name="search", input_schema=ANY)
    door.call("rag_trial", {"query": "moon?", "search": "search"})
    inner = traced.find(lambda span: span.name == "tools/call search")
    query = traced.find(lambda span: span.name == "query trial")
    assert inner.parent_id == traced.stages(query)["retrieve"].span_id
    assert inner.trace_id == query.trace_id


def test_lines_of_one_call_share_its_ids_in_every_process(
    traced: Collector, door: RestDoor, pipelines: Worker, lines: Lines
) -> None:
    # S0-028 F2-08 F3-03
    make_trial()
    headers = {"X-Correlation-ID": "order_7"}
    request_id = door.call("rag_trial", {"query": "moon?", "bug": True}, headers=headers).json()[
        "request_id"
    ]
    call = traced.call(request_id)
    query = traced.find(lambda span: span.name == "query trial")
    (here,) = [line for line in lines() if line["logger"] == "tools.calls"]
    (there,) = bugs(pipelines)
    for line, span in ((here, call), (there, query)):
        assert (line["request_id"], line["correlation_id"]) == (request_id, "order_7")
        assert (line["trace_id"], line["span_id"]) == (span.trace_id, span.span_id)
    assert query.failed == "InternalFault"
    other = door.call("rag_trial", {"query": "moon?", "bug": True}).json()["request_id"]
    assert [line["request_id"] for line in bugs(pipelines)] == [request_id, other]


def test_a_worker_that_stops_exports_what_it_has(
    traced: Collector, door: RestDoor, tmp_path: Path
) -> None:
    make_trial()
    # Nothing would leave by itself while this test lasts.
    late = {"OTEL_BSP_SCHEDULE_DELAY": "600000", "DJANGO_SETTINGS_MODULE": SETTINGS}
    with celery_worker(tmp_path / "late.log", 1, queues=("rag.trial",), **late) as worker:
        traced.call(door.call("rag_trial", {"query": "moon?"}).json()["request_id"])
        assert not [span for span in traced.spans if span.name == "query trial"]
        worker.stop()
        traced.find(lambda span: span.name == "query trial")


def test_a_worker_that_ran_a_task_exports_what_it_has_when_it_stops(
    traced: Collector, door: RestDoor, tmp_path: Path
) -> None:
    make_tool(name="slow", long_running=True, input_schema=ANY)
    client = TaskClient(door)
    late = {"OTEL_BSP_SCHEDULE_DELAY": "600000"}
    with celery_worker(tmp_path / "worker.log", 1, **late) as worker:
        task = client.call("slow", {"n": 1})["taskId"]
        wait_until(lambda: client.get(task)["status"] == "completed", what="the task's end")
        worker.stop()
        ran = traced.find(
            lambda span: (
                span.name == "tools/call slow"
                and span.attributes["controlplane.status"] == "success"
            )
        )
    assert tuple(span.name for span in traced.below(ran)) == STAGES


def test_a_task_runs_below_the_call_that_was_accepted(
    traced: Collector, door: RestDoor, tmp_path: Path, lines: Lines
) -> None:
    make_tool(name="slow", long_running=True, input_schema=ANY)
    client = TaskClient(door)
    with celery_worker(tmp_path / "worker.log", 1) as worker:
        created = client.call("slow", {"n": 1})
        assert created["resultType"] == "task"
        accepted, ran = (
            traced.find(
                lambda span, status=status: (
                    span.attributes.get("controlplane.status") == status
                    and span.name == "tools/call slow"
                )
            )
            for status in ("accepted", "success")
        )
        children = worker.children()
        (line,) = [one for one in read_lines(worker.output) if one["logger"] == "tools.calls"]
    (handed,) = traced.below(accepted)
    assert (handed.name, handed.kind) == ("task", "PRODUCER")
    assert (ran.parent_id, ran.trace_id) == (handed.span_id, accepted.trace_id)
    assert tuple(span.name for span in traced.below(ran)) == STAGES
    assert ran.resource["process.pid"] in children
    assert accepted.attributes["controlplane.request_id"] == line["request_id"]
    assert (line["trace_id"], line["span_id"]) == (ran.trace_id, ran.span_id)
