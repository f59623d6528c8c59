"""POST /call-tool through a real port."""

from __future__ import annotations

import json
import re
import uuid

import pytest

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tools.errors import ErrorCode

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
QUERY_CALLERS = {
    "type": "object",
    "properties": {
        "function_name": {"type": "string"},
        "max_depth": {"type": "integer", "default": 3, "minimum": 1, "maximum": 10},
    },
    "required": ["function_name"],
}


def test_success_is_an_envelope_with_data_and_without_error(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S3-001 S3-002 S3-003 S3-006 S3-010 S3-011 S3-043 S3-068 F3-01 T05
    make_tool(name="query_callers", input_schema=QUERY_CALLERS)
    answer = door.call("query_callers", {"function_name": "pkg.func"})
    body = answer.json()
    assert answer.status_code == 200
    assert set(body) == {"success", "data", "request_id", "timestamp", "meta"}
    assert body["success"] is True
    assert type(body["meta"]["execution_time_ms"]) is int
    assert body["meta"]["execution_time_ms"] >= 0
    assert type(body["meta"]["rate_limit_remaining"]) is int
    assert UUID4.match(body["request_id"])  # S3-007 S0-026
    assert TIMESTAMP.match(body["timestamp"])  # S3-009 S0-030 C08 T11


def test_defaults_of_the_schema_reach_the_backend(door: RestDoor, backend: FakeBackend) -> None:
    # S3-028 S3-069 S0-018
    make_tool(name="query_callers", input_schema=QUERY_CALLERS)
    body = door.call("query_callers", {"function_name": "pkg.func"}).json()
    assert body["data"] == {"echo": {"function_name": "pkg.func", "max_depth": 3}}


@pytest.mark.parametrize("result", [[1, 2], "text", 3, None, True])
def test_results_that_are_no_object_are_wrapped(
    door: RestDoor, backend: FakeBackend, result: object
) -> None:
    # S3-005
    make_tool(name="echo")
    assert door.call("echo", {"result": result}).json()["data"] == {"result": result}


def test_an_empty_object_is_a_valid_result(door: RestDoor, backend: FakeBackend) -> None:
    # T05
    make_tool(name="echo")
    body = door.call("echo", {"result": {}}).json()
    assert body["success"] is True
    assert body["data"] == {}


def test_a_given_request_id_is_echoed_in_body_and_header(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S3-008 S3-046 S0-029 F3-03 C07
    make_tool(name="echo")
    given = str(uuid.uuid4())
    answer = door.call("echo", {}, request_id=given)
    assert answer.json()["request_id"] == given
    assert answer.headers["X-Request-ID"] == given


def test_the_request_id_header_is_used_when_the_body_has_none(
    door: RestDoor, backend: FakeBackend
) -> None:
    # F3-03
    make_tool(name="echo")
    given = str(uuid.uuid4())
    assert door.call("echo", {}, headers={"X-Request-ID": given}).json()["request_id"] == given


@pytest.mark.parametrize(
    "bad",
    [
        "req_abc123",
        "",
        5,
        str(uuid.uuid1()),
        "{}",
        {"a": 1},
        "x" * 5000,
        "00000000-0000-0000-0000-000000000000",
    ],
)
def test_a_request_id_that_is_no_version_4_uuid_is_refused_under_a_fresh_one(
    door: RestDoor, backend: FakeBackend, bad: object
) -> None:
    # S0-027 S3-046 C07
    make_tool(name="echo")
    answer = door.call("echo", {}, request_id=bad)
    body = answer.json()
    assert answer.status_code == 400
    assert body["code"] == "INVALID_ARGUMENTS"
    assert UUID4.match(body["request_id"])
    assert body["meta"]["details"]["parameter"] == "request_id"
    assert backend.calls == {}
    assert row_of(body["request_id"]).code == "INVALID_ARGUMENTS"


@pytest.mark.parametrize(
    ("fail", "status", "code"),
    [
        ("execution", 500, "EXECUTION_ERROR"),  # S3-014
        ("upstream", 500, "EXECUTION_ERROR"),
        ("transport", 503, "SERVICE_UNAVAILABLE"),
        ("bug", 500, "INTERNAL_ERROR"),  # S3-015
    ],
)
def test_each_failure_has_its_code_and_status(
    door: RestDoor, backend: FakeBackend, fail: str, status: int, code: str
) -> None:
    # S3-004 S3-006 S3-014 S3-015 S3-019 F3-02 F3-04
    make_tool(name="echo")
    answer = door.call("echo", {"fail": fail})
    body = answer.json()
    assert (answer.status_code, body["code"]) == (status, code)
    assert body["success"] is False
    assert "data" not in body
    assert body["code"] in set(ErrorCode)


def test_the_cause_of_a_bug_stays_inside(door: RestDoor, backend: FakeBackend) -> None:
    # S3-015
    make_tool(name="echo")
    answer = door.call("echo", {"fail": "bug"})
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text


def test_a_tool_over_its_time_limit_times_out_and_is_cancelled(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S3-016 T11 C10
    make_tool(name="echo", timeout_seconds=1)
    answer = door.call("echo", {"delay": 30})
    body = answer.json()
    assert (answer.status_code, body["code"]) == (504, "TIMEOUT")
    assert backend.cancelled == 1
    assert row_of(body["request_id"]).status == "timeout"


def test_an_unknown_tool_is_not_found_and_close_names_are_listed(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S3-012 S3-044 S3-069 S0-020 F0-30
    make_tool(name="query_callers")
    make_tool(name="query_hierarchy")
    answer = door.call("invalid_tool_name")
    body = answer.json()
    assert (answer.status_code, body["code"]) == (404, "TOOL_NOT_FOUND")
    assert body["error"] == "Tool not found: invalid_tool_name"
    assert body["meta"]["details"]["available"] == ["query_callers", "query_hierarchy"]
    near = door.call("query_caller").json()
    assert "query_callers" in near["meta"]["details"]["suggestion"]


def test_tool_names_are_case_sensitive(door: RestDoor, backend: FakeBackend) -> None:
    # S0-004
    make_tool(name="rag_basic")
    assert door.call("RAG_BASIC").json()["code"] == "TOOL_NOT_FOUND"


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({}, "function_name"),
        ({"function_name": 5}, "function_name"),
        ({"function_name": "f", "max_depth": 0}, "max_depth"),
        ({"function_name": "f", "max_depth": 11}, "max_depth"),
        ({"function_name": "f", "max_depth": "3"}, "max_depth"),
    ],
)
def test_bad_arguments_are_refused_before_anything_runs(
    door: RestDoor, backend: FakeBackend, arguments: dict[str, object], parameter: str
) -> None:
    # S3-013 S3-045 S0-010 S0-022 F0-03 F0-19
    make_tool(name="query_callers", input_schema=QUERY_CALLERS)
    answer = door.call("query_callers", arguments)
    body = answer.json()
    assert (answer.status_code, body["code"]) == (400, "INVALID_ARGUMENTS")
    details = body["meta"]["details"]
    assert details["parameter"] == parameter
    assert details["expected"]
    assert details["suggestion"]  # F3-29
    assert backend.calls == {}


@pytest.mark.parametrize("arguments", [None, [], "x", 5])
def test_arguments_that_are_no_object_are_refused(
    door: RestDoor, backend: FakeBackend, arguments: object
) -> None:
    # S3-045
    make_tool(name="echo")
    answer = door.client.post("/call-tool", json={"tool": "echo", "arguments": arguments})
    assert answer.status_code == 400
    assert answer.json()["meta"]["details"]["parameter"] == "arguments"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b'{"tool": "echo", "arguments": {"n": NaN}}',
        b'{"tool": "echo", "arguments": {"s": "\xff"}}',
        b'{"tool": "echo", "arguments": {"s": "\\ud800"}}',
        b'{"tool": "echo", "arguments": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_001,
        b'{"arguments": {}}',
        b'{"tool": 5, "arguments": {}}',
        b'{"tool": "", "arguments": {}}',
        b'{"tool": "echo", "arguments": {"n": 1e400}}',
        b'{"tool": "echo", "arguments": {"n": ' + b"9" * 5000 + b"}}",
        b'{"tool": "echo", "tool": "other", "arguments": {}}',
    ],
)
def test_bodies_that_are_no_call_get_400_in_the_envelope(
    door: RestDoor, backend: FakeBackend, content: bytes
) -> None:
    # F3-31 C15
    make_tool(name="echo")
    answer = door.client.post(
        "/call-tool", content=content, headers={"Content-Type": "application/json"}
    )
    body = answer.json()
    assert (answer.status_code, body["code"], body["success"]) == (400, "INVALID_ARGUMENTS", False)
    assert UUID4.match(body["request_id"])
    assert backend.calls == {}


def test_refusals_do_not_repeat_advice_meant_for_programmers(door: RestDoor) -> None:
    body = b'{"tool": "echo", "arguments": {"n": ' + b"9" * 5000 + b"}}"
    answer = door.client.post(
        "/call-tool", content=body, headers={"Content-Type": "application/json"}
    )
    assert "sys." not in answer.text
    empty = door.client.post("/call-tool", headers={"Content-Type": "application/json"})
    assert empty.json()["error"] == "The body is empty"


def test_every_answer_echoes_the_request_id_header(door: RestDoor) -> None:
    # F3-03
    given = {"X-Request-ID": str(uuid.uuid4())}
    huge = b"x" * (2 << 20)
    answers = [
        door.get("/tools", headers=given),
        door.get("/health", headers=given),
        door.get("/nothing", headers=given),
        door.client.post("/call-tool", content=huge, headers=given),
        door.client.put("/tools", headers=given),
    ]
    assert [answer.headers["X-Request-ID"] for answer in answers] == [given["X-Request-ID"]] * 5


def test_a_name_too_long_for_any_tool_is_not_compared(door: RestDoor) -> None:
    make_tool(name="echo")
    body = door.call("e" * 500_000).json()
    assert body["code"] == "TOOL_NOT_FOUND"
    assert len(body["error"]) < 200


def test_another_content_type_gets_415_in_the_envelope(door: RestDoor) -> None:
    make_tool(name="echo")
    answer = door.client.post(
        "/call-tool", content=b"tool=echo", headers={"Content-Type": "text/plain"}
    )
    assert (answer.status_code, answer.json()["code"]) == (415, "INVALID_ARGUMENTS")


def test_an_oversized_body_gets_413_in_the_envelope(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    huge = json.dumps({"tool": "echo", "arguments": {"result": "x" * (1 << 20)}}).encode()
    answer = door.client.post(
        "/call-tool", content=huge, headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "INVALID_ARGUMENTS")
    pieces = (huge[start : start + 65536] for start in range(0, len(huge), 65536))
    chunked = door.client.post(
        "/call-tool", content=pieces, headers={"Content-Type": "application/json"}
    )
    assert (chunked.status_code, chunked.json()["code"]) == (413, "INVALID_ARGUMENTS")
    assert backend.calls == {}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods_get_405_in_the_envelope(door: RestDoor, method: str) -> None:
    answer = door.client.request(method, "/call-tool")
    assert (answer.status_code, answer.json()["code"]) == (405, "INVALID_ARGUMENTS")
    assert "POST" in answer.headers["Allow"]
    assert "POST" in answer.json()["meta"]["details"]["suggestion"]


def test_unknown_addresses_get_404_in_the_envelope(door: RestDoor) -> None:
    answer = door.get("/nothing/here")
    assert (answer.status_code, answer.json()["code"]) == (404, "TOOL_NOT_FOUND")


def test_a_foreign_host_header_is_refused_in_the_envelope(door: RestDoor) -> None:
    for path in ("/tools", "/health"):
        answer = door.get(path, headers={"Host": "evil.example"})
        assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_ARGUMENTS")


def test_unicode_travels_unharmed_both_ways(door: RestDoor, backend: FakeBackend) -> None:
    # F3-31
    make_tool(name="echo")
    text = "Grüße 你好 \U0001f411 \u0000 \u202e"
    assert door.call("echo", {"text": text}).json()["data"]["echo"]["text"] == text


def test_numbers_beyond_64_bits_are_not_altered(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    number = 123456789012345678901234567890
    assert door.call("echo", {"n": number}).json()["data"]["echo"]["n"] == number


def test_an_unknown_field_beside_the_arguments_is_refused(door: RestDoor) -> None:
    make_tool(name="echo")
    answer = door.call("echo", {}, query="misplaced")
    assert answer.status_code == 400
    assert answer.json()["meta"]["details"]["parameter"] == "query"


def test_a_recursive_schema_is_honoured(door: RestDoor, backend: FakeBackend) -> None:
    # F3-31
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/definitions/node"}},
        "required": ["tree"],
        "definitions": {
            "node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/definitions/node"}},
                },
                "required": ["name"],
            }
        },
    }
    make_tool(name="echo", input_schema=schema)
    good = {"tree": {"name": "a", "children": [{"name": "b"}]}}
    assert door.call("echo", good).status_code == 200
    bad = {"tree": {"name": "a", "children": [{"nome": "b"}]}}
    assert door.call("echo", bad).json()["meta"]["details"]["parameter"] == "tree.children.0.name"


def test_an_answer_that_is_not_json_is_an_execution_error(
    door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    assert door.call("echo", {"fail": "not-json"}).json()["code"] == "EXECUTION_ERROR"


def test_keys_are_required_once_switched_on(door: RestDoor, backend: FakeBackend) -> None:
    # S3-034 C15 C20 F0-26
    make_service(security_api_keys_enabled=True)
    make_tool(name="echo")
    _, key = make_client(toolsets=[make_toolset(includes_all=True)])
    for headers in ({}, {"X-API-Key": "cp_wrong"}, {"Authorization": "Bearer cp_wrong"}):
        answer = door.call("echo", {}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "INVALID_ARGUMENTS")
        assert "WWW-Authenticate" in answer.headers
    assert door.get("/tools").status_code == 401
    assert door.get("/metrics").status_code == 401
    assert door.get("/metrics", headers={"X-API-Key": key}).status_code == 200
    assert door.get("/health").status_code == 200
    assert door.call("echo", {}, headers={"X-API-Key": key}).status_code == 200
    assert door.call("echo", {}, headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert key not in "".join(str(row.parameters) + row.caller for row in rows())


def test_a_client_sees_and_calls_only_what_it_was_granted(
    door: RestDoor, backend: FakeBackend
) -> None:
    granted = make_tool(name="granted")
    make_tool(name="hidden")
    _, key = make_client(toolsets=[make_toolset(tools=[granted])])
    headers = {"X-API-Key": key}
    assert [tool["name"] for tool in door.get("/tools", headers=headers).json()["tools"]] == [
        "granted"
    ]
    assert door.call("granted", {}, headers=headers).status_code == 200
    refused = door.call("hidden", {}, headers=headers)
    assert refused.json()["code"] == "TOOL_NOT_FOUND"
    assert "hidden" not in refused.json()["meta"]["details"]["available"]


def test_calls_beyond_the_rate_get_429_with_retry_after(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S3-017 S3-035
    make_service(security_rate_limit=10)
    make_tool(name="echo")
    answers = [door.call("echo", {}) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    last = answers[-1]
    assert last.json()["code"] == "RATE_LIMITED"
    assert 1 <= int(last.headers["Retry-After"]) <= 6
    assert last.json()["meta"]["details"]["retry_after"] == int(last.headers["Retry-After"])
    remaining = [answer.json()["meta"]["rate_limit_remaining"] for answer in answers[:10]]
    assert remaining == sorted(remaining, reverse=True)


def test_clients_have_rates_of_their_own(door: RestDoor, backend: FakeBackend) -> None:
    make_tool(name="echo")
    everything = make_toolset(includes_all=True)
    _, first = make_client(toolsets=[everything], rate_limit_per_minute=10)
    _, second = make_client(toolsets=[everything], rate_limit_per_minute=10)
    for _ in range(10):
        door.call("echo", {}, headers={"X-API-Key": first})
    assert door.call("echo", {}, headers={"X-API-Key": first}).status_code == 429
    assert door.call("echo", {}, headers={"X-API-Key": second}).status_code == 200


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        nested(100),
        nested(400),
        nested(900),
        10**400,
        -(10**400),
        1e308,
        "x" * 500_000,
        ["x"] * 50_000,
        {str(number): number for number in range(20_000)},
        {"": {"": ""}},
        {"__proto__": 1, "constructor": 2},
        "\x00\x01\u2028\uffff",
    ],
    ids=lambda value: str(value)[:20],
)
def test_odd_but_valid_values_are_answered_without_a_500(
    door: RestDoor, backend: FakeBackend, value: object
) -> None:
    # F3-31 F0-31
    schema = {
        "type": "object",
        "properties": {"v": {}, "n": {"type": "integer", "minimum": 0}},
        "additionalProperties": False,
    }
    make_tool(name="echo", input_schema=schema)
    answer = door.call("echo", {"v": value})
    assert answer.status_code in {200, 400}, answer.text[:500]
    body = answer.json()
    if body["success"]:
        assert body["data"]["echo"]["v"] == value
    row = row_of(body["request_id"])
    assert row.state in {"completed", "failed"}
