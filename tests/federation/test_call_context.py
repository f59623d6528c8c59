"""What goes along with a call, and what of it is written down: journal, log line, `_meta`, traces."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from controlplane.logging import JsonFormatter
from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_toolset
from tests.federation.plane import Plane, every_era, plane
from tests.journal import row_of
from tests.tools.mcp_server.clients import Way, user_of
from tools.contracts import ToolCallContext, Transport
from tools.errors import CallStatus
from tools.models import Tool, ToolResponse

MODERN = Way("streamable_http", "auto")
LEGACY = Way("streamable_http", "legacy")
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
UPSTREAM_SECRET = "Bearer up-7f3c9a1e5b"
STARTS = {"tool_name", "parameters", "execution_start", "duration", "status", "request_id"}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """The structured lines of calls so far, as they are written."""

    def read(request_id: str) -> dict[str, Any]:
        written = [
            json.loads(JsonFormatter().format(record))
            for record in caplog.records
            if record.name == "tools.calls"
        ]
        (line,) = [one for one in written if one["request_id"] == request_id]
        found: dict[str, Any] = line
        return found

    with caplog.at_level(logging.DEBUG):
        yield read


@every_era
def test_ids_and_trace_accompany_every_call(door: RestDoor, tmp_path: Path, era: str) -> None:
    # F2-04 C07 S2-034 S2-035
    given = str(uuid.uuid4())
    meta = {"thread_id": "thread-7", "traceparent": TRACE, "tracestate": "a=1"}
    with plane(door, tmp_path, era) as served:
        for way in (MODERN, LEGACY):
            with user_of(served.url, way) as user:
                user.call("context", meta={"request_id": given, **meta})
                _assert_told(served, request_id=given, correlation_id=given, **meta)
                both = {"request_id": given, "correlation_id": "order_7"}
                user.call("context", meta={**both, **meta})
                _assert_told(served, **both, **meta)
                other = user.call("context", meta={"request_id": "req_abc123"})
                _assert_told(
                    served, request_id=other.meta["request_id"], correlation_id="req_abc123"
                )
                spaced = user.call("context", meta={"request_id": "a b!", "thread_id": "a b!"})
                told = _assert_told(served, request_id=spaced.meta["request_id"])
                assert not {"correlation_id", "thread_id", "traceparent"} & told.keys()
        headers = {
            "X-Correlation-ID": "order_8",
            "X-Thread-ID": "thread-8",
            "traceparent": TRACE,
            "tracestate": "b=2",
        }
        answer = served.rest("context", request_id=given, headers=headers)
        assert answer["request_id"] == given
        _assert_told(
            served,
            request_id=given,
            correlation_id="order_8",
            thread_id="thread-8",
            traceparent=TRACE,
            tracestate="b=2",
        )
        served.rest("context", headers={"traceparent": "not a trace", "X-Thread-ID": "a b!"})
        assert not {"traceparent", "thread_id"} & _last_meta(served).keys()
        last = served.rest("context", headers=headers)["request_id"]
        row = row_of(last)
        assert (row.correlation_id, row.thread_id) == ("order_8", "thread-8")


def test_trace_headers_of_an_mcp_request_are_passed_on(door: RestDoor, tmp_path: Path) -> None:
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
        "traceparent": TRACE,
        "tracestate": "c=3",
    }
    params = {"name": "context", "arguments": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with plane(door, tmp_path) as served:
        assert door.client.post("/mcp", json=body, headers=headers).status_code == 200
        told = _last_meta(served)
    assert (told["traceparent"], told["tracestate"]) == (TRACE, "c=3")


def test_a_success_is_written_with_its_result(door: RestDoor, tmp_path: Path, lines: Any) -> None:
    # S2-033 S2-036 S2-037 S2-038 S2-039 S2-040 S2-041 S2-042 F2-08
    with plane(door, tmp_path) as served, user_of(served.url, MODERN) as user:
        arguments = {"text": "hello", "password": "hunter2"}
        loose = Tool.objects.get(name="echo")
        loose.input_schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        loose.save()
        served.settle()
        meta = {"correlation_id": "order_7", "thread_id": "thread-7"}
        request_id = user.call("echo", arguments, meta=meta).meta["request_id"]
        row = row_of(request_id)
        line = lines(request_id)
    assert (row.status, row.code, row.error) == ("success", "", "")
    assert (row.correlation_id, row.thread_id) == ("order_7", "thread-7")
    assert (row.tool_id, row.source, row.transport) == (
        "echo",
        "upstream",
        Transport.STREAMABLE_HTTP,
    )
    assert row.duration_ms is not None
    assert row.duration_ms >= 0
    assert row.parameters["text"] == "hello"
    assert row.parameters["password"] != "hunter2"
    assert line["message"] == "MCP tool call completed"
    assert line.keys() >= STARTS
    assert (line["tool_name"], line["status"], line["duration"] >= 0) == ("echo", "success", True)
    assert (line["correlation_id"], line["thread_id"]) == ("order_7", "thread-7")
    assert "hunter2" not in json.dumps(line)
    assert "hello" in line["result"]
    assert "error" not in line


def test_a_failure_and_a_timeout_are_written_with_their_error(
    door: RestDoor, tmp_path: Path, lines: Any
) -> None:
    # S2-039 S2-040 S2-041 F2-08
    with plane(door, tmp_path, call_timeout=1) as served:
        failed = served.rest("fail", {"message": "There is no todo 7."})["request_id"]
        late = served.rest("sleep", {"ms": 60_000})["request_id"]
        rows = {request_id: row_of(request_id) for request_id in (failed, late)}
        written = {request_id: lines(request_id) for request_id in (failed, late)}
    assert (rows[failed].status, rows[failed].code) == ("failure", "EXECUTION_ERROR")
    assert rows[failed].error == "There is no todo 7."
    assert (rows[late].status, rows[late].code) == ("timeout", "TIMEOUT")
    assert rows[late].error
    assert (written[failed]["status"], written[failed]["error"]) == (
        "failure",
        "There is no todo 7.",
    )
    assert written[late]["status"] == "timeout"
    assert written[late]["error"]
    assert "result" not in written[failed] | written[late]


def test_an_answer_whose_body_is_not_kept_is_a_success_with_null(
    door: RestDoor, tmp_path: Path, lines: Any
) -> None:
    # T14 F2-07
    with plane(door, tmp_path) as served:
        tool = Tool.objects.get(name="echo")
        tool.keep_body = False
        tool.save()
        served.settle()
        request_id = served.rest("echo", {"text": "nobody keeps this"})["request_id"]
        row_of(request_id)
        line = lines(request_id)
        assert not ToolResponse.objects.filter(request_id=request_id).exists()
    assert line["status"] == "success"
    assert line["result"] is None
    assert "error" not in line


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": CallStatus.SUCCESS, "result": 1, "error": "both"},
        {"status": CallStatus.SUCCESS},
        {"status": CallStatus.FAILURE, "result": 1},
        {"status": CallStatus.TIMEOUT},
        {"status": CallStatus.SUCCESS, "result": None, "execution_duration": -0.1},
        {"status": CallStatus.SUCCESS, "result": None, "request_id": "a b!"},
    ],
)
def test_a_context_that_contradicts_itself_cannot_be_made(wrong: dict[str, Any]) -> None:
    # S2-034 S2-038 S2-039 S2-041
    values = {
        "request_id": "req_abc123",
        "tool_name": "echo",
        "parameters": "{}",
        "execution_start": datetime.now(UTC),
        "execution_duration": 0.0,
    }
    ToolCallContext(**values, status=CallStatus.SUCCESS, result=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must|has"):
        ToolCallContext(**{**values, **wrong})


@every_era
def test_tokens_of_clients_never_reach_the_server_nor_its_own_the_clients(
    door: RestDoor, tmp_path: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    make_service(security_api_keys_enabled=True)
    with caplog.at_level(logging.DEBUG), plane(door, tmp_path, era, retries=0) as served:
        served.row.set_headers({"Authorization": UPSTREAM_SECRET, "X-Api-Key": "sheep-and-goats"})
        served.row.save()
        tools = make_toolset(tools=list(Tool.objects.all()))
        _, key = make_client(toolsets=[tools])
        served.settle()
        answers = []
        for way in (MODERN, LEGACY):
            with user_of(served.url, way, key=key) as user:
                answers += [user.call("context"), user.call("fail"), user.call("garbage")]
        keyed = {"Authorization": f"Bearer {key}", "Cookie": f"session={key}"}
        for tool in ("context", "fail", "garbage"):
            answers.append(door.call(tool, headers=keyed).text)
        for switches in ({"refuse": 401}, {"refuse": 503}, {"refuse": 0, "garbage": True}):
            served.upstream.set(**switches)
            answers.append(door.call("echo", headers=keyed).text)
        served.upstream.kill()
        answers.append(door.call("echo", headers=keyed).text)
        calls = served.upstream.events("call")
        assert {call["headers"]["authorization"] for call in calls} == {UPSTREAM_SECRET}
        assert {call["headers"]["x-api-key"] for call in calls} == {"sheep-and-goats"}
        assert key not in json.dumps(served.upstream.events())
        door.stop()
    secret = UPSTREAM_SECRET.removeprefix("Bearer ")
    kept = json.dumps(list(ToolResponse.objects.values_list("body", flat=True)))
    for told in (*map(str, answers), caplog.text, kept):
        assert secret not in told
        assert "sheep-and-goats" not in told


def _last_meta(served: Plane) -> dict[str, Any]:
    found: dict[str, Any] = served.upstream.executions("context")[-1]["meta"]
    return found


def _assert_told(served: Plane, **expected: str) -> dict[str, Any]:
    """The server was told these of the last call, and when it was made."""
    told = _last_meta(served)
    assert {name: told.get(name) for name in expected} == expected
    assert told["timestamp"].endswith("Z")
    return told
