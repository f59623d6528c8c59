"""The trace of a call as a collector gets it: one span, its stages below it, the caller's above."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.federation.plane import plane
from tests.http_server import http_server, json_reply
from tests.journal import row_of
from tests.tools.mcp_server.clients import WAYS, Way, user_of
from tests.tools.tracing.collector import STAGES, Collector, Seen
from tools.backends.builtin import BUILTINS
from tools.models import ApiOperation, ApiService, Tool

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
UNSAMPLED = PARENT[:-2] + "00"
ANY = {"type": "object", "properties": {}}
MANY = [{"name": f"thing {number}", "price": number} for number in range(500)]
MODERN = Way("streamable_http", "auto")


def make_builtin() -> Tool:
    known = BUILTINS["server_metrics"]
    return make_tool(
        name="server_metrics",
        source="builtin",
        handler="server_metrics",
        description=known.description,
        input_schema=dict(known.input_schema),
    )


def make_shop(url: str, **headers: str) -> Tool:
    """A tool on an HTTP API, which goes through every stage: cached, limited, behind a breaker."""
    service = ApiService(slug="shop", base_url=url, retries=0, headers=headers)
    service.allowed_networks = ["127.0.0.1/32"]
    service.save()
    tool = Tool(name="shop_find", description="Finds things.", source="http_api")
    tool.input_schema = ANY
    operation = ApiOperation(service=service, method="GET", path="/things")
    operation.configure(tool)
    tool.cache_ttl_seconds, tool.max_concurrent, tool.requires_context_management = 60, 2, True
    tool.save()
    operation.tool = tool
    operation.save()
    return tool


def assert_in_order(collector: Collector, call: Seen, stages: tuple[str, ...] = STAGES) -> None:
    """Each stage once, one after the other, within the span of the call."""
    below = collector.below(call)
    assert tuple(span.name for span in below) == stages
    assert {span.trace_id for span in below} == {call.trace_id}
    times = [call.start, *(time for span in below for time in (span.start, span.end)), call.end]
    assert times == sorted(times)


@pytest.mark.parametrize("way", [None, *WAYS], ids=str)
def test_a_call_of_a_builtin_tool_is_seen_with_all_its_stages(
    traced: Collector, door: RestDoor, way: Way | None
) -> None:
    make_service(service_name="sheep-tools")
    make_builtin()
    if way is None:
        request_id = door.call("server_metrics").json()["request_id"]
    else:
        door.start()
        with user_of(door.url, way) as user:
            request_id = user.call("server_metrics").meta["request_id"]
    call = traced.call(request_id)
    assert (call.name, call.kind, call.parent_id) == ("tools/call server_metrics", "SERVER", "")
    assert_in_order(traced, call)
    transport = "rest" if way is None else way.transport
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "server_metrics",
        "controlplane.transport": transport,
        "controlplane.request_id": request_id,
        "controlplane.call_id": str(row_of(request_id).call_id),
        "controlplane.caller.kind": "anonymous",
        "controlplane.source": "builtin",
        "controlplane.status": "success",
    }
    if way is not None:
        told["mcp.method.name"] = "tools/call"
    assert call.attributes == told
    assert call.resource["service.name"] == "sheep-tools"


def test_the_callers_span_is_the_parent(traced: Collector, door: RestDoor) -> None:
    make_builtin()
    headers = {"traceparent": PARENT, "tracestate": "a=1"}
    over_rest = traced.call(door.call("server_metrics", headers=headers).json()["request_id"])
    with user_of(door.url, MODERN) as user:
        answer = user.call("server_metrics", meta={"traceparent": PARENT})
    over_mcp = traced.call(answer.meta["request_id"])
    for call in (over_rest, over_mcp):
        assert (call.trace_id, call.parent_id) == (TRACE_ID, PARENT[36:52])
        assert_in_order(traced, call)


def test_what_the_caller_did_not_sample_is_not_exported_but_passed_on(
    traced: Collector, door: RestDoor
) -> None:
    with http_server() as api:
        make_shop(api.url)
        door.call("shop_find", headers={"traceparent": UNSAMPLED})
        last = traced.call(door.call("shop_find").json()["request_id"])
        passed_on = api.asked[0].header("traceparent")
    assert passed_on is not None
    assert passed_on.startswith(f"00-{TRACE_ID}-")
    assert passed_on.endswith("-00")
    assert passed_on != UNSAMPLED
    assert {span.trace_id for span in traced.spans} == {last.trace_id}


def test_an_upstream_server_is_called_below_the_backend_stage(
    traced: Collector, door: RestDoor, tmp_path: Path
) -> None:
    with plane(door, tmp_path) as served:
        request_id = served.rest("context", headers={"traceparent": PARENT, "baggage": "u=7"})[
            "request_id"
        ]
        call = traced.call(request_id)
        (asked,) = served.upstream.executions("context")
    assert_in_order(traced, call)
    backend = traced.stages(call)["backend"]
    expected = f"00-{TRACE_ID}-{backend.span_id}-01"
    assert (asked["meta"]["traceparent"], asked["headers"]["traceparent"]) == (expected, expected)
    assert (asked["meta"]["request_id"], asked["meta"]["baggage"]) == (request_id, "u=7")
    assert "baggage" not in asked["headers"]
    assert (backend.kind, backend.attributes) == (
        "CLIENT",
        {"controlplane.dependency": "mcp:trial"},
    )


def test_an_http_api_is_called_below_the_backend_stage(traced: Collector, door: RestDoor) -> None:
    with http_server(always=json_reply(MANY)) as api:
        make_shop(api.url)
        first = door.call("shop_find", headers={"traceparent": PARENT, "baggage": "u=7"}).json()
        call = traced.call(first["request_id"])
        again = traced.call(door.call("shop_find").json()["request_id"])
    (asked,) = api.asked
    assert_in_order(traced, call)
    backend = traced.stages(call)["backend"]
    assert asked.header("traceparent") == f"00-{TRACE_ID}-{backend.span_id}-01"
    assert asked.header("x-request-id") == first["request_id"]
    assert asked.header("baggage") is None
    assert call.attributes["controlplane.cache_hit"] is False
    row, figures = row_of(first["request_id"]), ("before", "after")
    tokens = tuple(call.attributes[f"controlplane.tokens.{figure}"] for figure in figures)
    assert tokens == (row.tokens_before, row.tokens_after)
    assert call.attributes["controlplane.tokens.before"] > 2000
    # What the cache has needs no slot, no breaker and no backend.
    kept = tuple(name for name in STAGES if name not in {"slot", "breaker", "backend"})
    assert_in_order(traced, again, kept)
    assert again.attributes["controlplane.cache_hit"] is True


def test_headers_of_the_operator_win_over_ours(traced: Collector, door: RestDoor) -> None:
    own = {"X-Request-Id": "fixed", "Traceparent": UNSAMPLED}
    with http_server() as api:
        make_shop(api.url, **own)
        assert door.call("shop_find").json()["success"]
    (asked,) = api.asked
    assert (asked.header("x-request-id"), asked.header("traceparent")) == ("fixed", UNSAMPLED)


def test_a_refused_call_ends_at_the_stage_that_refused_it(
    traced: Collector, door: RestDoor
) -> None:
    make_tool(name="strict", input_schema={**ANY, "required": ["query"]})
    make_tool(name="broken", input_schema=ANY)
    wrong = traced.call(door.call("strict").json()["request_id"])
    unknown = traced.call(door.call("nobody_knows_this").json()["request_id"])
    failed = traced.call(door.call("broken", {"fail": "UpstreamFailed"}).json()["request_id"])
    assert_in_order(traced, wrong, ("identity", "lookup", "validation", "journal"))
    assert_in_order(traced, unknown, ("identity", "lookup", "journal"))
    assert_in_order(traced, failed, tuple(name for name in STAGES if name != "budget"))
    assert traced.stages(wrong)["validation"].failed == wrong.failed == "INVALID_ARGUMENTS"
    assert traced.stages(wrong)["lookup"].failed == ""
    # Callers can think of any number of names.
    assert (unknown.name, unknown.failed) == ("tools/call", "TOOL_NOT_FOUND")
    assert unknown.attributes["gen_ai.tool.name"] == "nobody_knows_this"
    assert traced.stages(failed)["backend"].failed == failed.attributes["error.type"]


def test_strangers_leave_no_trace(traced: Collector, door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    tools = make_toolset(tools=[make_builtin()])
    _, key = make_client(toolsets=[tools])
    refused = door.call("server_metrics", headers={"X-API-Key": f"{key}x", "traceparent": PARENT})
    served = door.call("server_metrics", headers={"X-API-Key": key})
    assert (refused.status_code, served.status_code) == (401, 200)
    call = traced.call(served.json()["request_id"])
    assert {span.trace_id for span in traced.spans} == {call.trace_id}


def test_spans_hold_no_arguments_answers_or_keys(traced: Collector, door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    tools = make_toolset(tools=[make_tool(name="echo", input_schema=ANY)])
    _, key = make_client(name="a person", toolsets=[tools])
    given: dict[str, Any] = {"query": "hunter2", "result": {"secret": "sheep-and-goats"}}
    answer = door.call("echo", given, headers={"X-API-Key": key}).json()
    assert answer["data"] == given["result"]
    traced.call(answer["request_id"])
    told = json.dumps([span.__dict__ for span in traced.spans])
    for word in ("hunter2", "sheep-and-goats", key, "a person"):
        assert word not in told
