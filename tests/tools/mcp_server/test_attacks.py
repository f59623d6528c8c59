"""Messages no sound client would send: each door refuses them clearly and stays as it was."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.doors import RestDoor
from tests.factories import make_prompt, make_resource, make_service, make_tool
from tests.journal import rows
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS, Way
from tests.tools.mcp_server.raw_doors import (
    INITIALIZE,
    PATIENCE,
    Answer,
    RawClient,
    raw_client,
    request,
)
from tools.execution import offerings
from tools.models import ToolRequest

LIMIT = 1 << 20
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
# Words of our own source or of libraries, which no client is to see.
INTERNAL_WORDS = ("Traceback", 'File "', "pydantic", "validation error", "line 1 column", "hunter2")
HALF, NUL = "\ud800", "\0"


@pytest.fixture(autouse=True)
def no_bug_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A refusal is no exception: nothing may be logged with a traceback."""
    caplog.set_level(logging.WARNING)
    yield
    bugs = [record.getMessage() for record in caplog.records if record.exc_info]
    # The web server's own words for a frame that is not UTF-8.
    assert [text for text in bugs if not text.startswith("Invalid UTF-8 sequence")] == []


@pytest.fixture
def serving(door: RestDoor) -> RestDoor:
    make_service(security_rate_limit=100_000)
    make_tool(name="echo")
    make_prompt(name="ask")
    make_resource(uri="docs://guide")
    return door.start()


ODD_VERSIONS: tuple[Any, ...] = (None, 2, "1.0", [])
ODD_METHODS: tuple[Any, ...] = (None, 1, True, [], {})
ODD_PARAMS: tuple[Any, ...] = (1, True, [], "x")
ODD_FIELDS: tuple[Any, ...] = (1, 1.5, True, [], [[]], "x")


def tell(way: Way, raw: str | bytes, url: str, client: RawClient | None = None) -> Answer:
    """The answer to a message, on a connection of its own or on the given one."""
    if client is not None:
        answer = client.send(raw)
    else:
        with raw_client(url, way) as own:
            answer = own.send(raw)
    assert not [word for word in INTERNAL_WORDS if word in answer.text], answer.text[:500]
    assert len(answer.text) < 2 * LIMIT
    return answer


def call(way: Way, **params: Any) -> str:
    return json.dumps(request(way, "tools/call", {"name": "echo", **params}))


def argument(way: Way, raw: bytes) -> bytes:
    """A call with an argument written by hand."""
    return call(way, arguments={"a": "@"}).encode().replace(b'"@"', raw)


def no_json(way: Way) -> dict[str, bytes]:
    return {
        "nothing": b"",
        "an open brace": b"{",
        "not UTF-8": argument(way, b'"\xff\xfe"'),
        "UTF-16": call(way).encode("utf-16"),
        "10,000 objects deep": argument(way, b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
        "10,000 lists deep": argument(way, b"[" * 10_000 + b"]" * 10_000),
        "300 lists deep": argument(way, b"[" * 300 + b"]" * 300),
        "only brackets": b"[" * 100_000,
        "half a character": argument(way, b'"\\ud800"'),
        "half a tool": json.dumps(request(way, "tools/call", {"name": HALF})).encode(),
        "half a cursor": json.dumps(request(way, "tools/list", {"cursor": HALF})).encode(),
        "half an address": json.dumps(request(way, "resources/read", {"uri": HALF})).encode(),
        "half an id": json.dumps(request(way, "tools/list", None, HALF)).encode(),
        "NaN": argument(way, b"NaN"),
        "beyond any float": argument(way, b"1e400"),
        "a number without end": argument(way, b"9" * 5000),
    }


def no_message(way: Way) -> dict[str, bytes]:
    sound = request(way, "tools/list")
    odd_ids = (1.5, 1.0, True, None, {"a": 1}, [1])
    made: dict[str, Any] = {
        "a batch": [sound, sound],
        "an empty batch": [],
        "a text": "text",
        "null": None,
        "no method": {"jsonrpc": "2.0", "id": 1},
        **{f"id {number!r}": {**sound, "id": number} for number in odd_ids},
        **{f"jsonrpc {value!r}": {**sound, "jsonrpc": value} for value in ODD_VERSIONS},
        **{f"method {value!r}": {**sound, "method": value} for value in ODD_METHODS},
        **{f"params {value!r}": {**sound, "params": value} for value in ODD_PARAMS},
    }
    return {name: json.dumps(value).encode() for name, value in made.items()}


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_is_no_message_is_refused_alike_at_every_door(serving: RestDoor, way: Way) -> None:
    # F0-31 S4-060
    for name, raw in no_json(way).items():
        answer = tell(way, raw, serving.url)
        # A frame that is not UTF-8 is no text at all to a WebSocket.
        refused = answer.error.get("code") or answer.closed
        expected = {1007} if way.transport == "websocket" and "UTF" in name else {PARSE_ERROR}
        assert refused in expected, (name, answer)
    for name, raw in no_message(way).items():
        answer = tell(way, raw, serving.url)
        assert answer.error.get("code") == INVALID_REQUEST, (name, answer)
        assert answer.status in {200, 400}
    assert rows() == []


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_is_too_large_is_refused(serving: RestDoor, way: Way) -> None:
    raw = call(way, arguments={"a": "x" * LIMIT})
    answer = tell(way, raw, serving.url)
    if way.transport == "websocket":
        assert answer.closed == 1009
        # What is measured are bytes, not characters.
        assert tell(way, call(way, arguments={"a": "ü" * (LIMIT // 2)}), serving.url).closed == 1009
        # The web server has a limit of its own, for what is packed small too.
        assert tell(way, call(way, arguments={"a": "x" * 17 * LIMIT}), serving.url).closed == 1009
    else:
        assert (answer.status, answer.error["code"]) == (413, INVALID_REQUEST)
    assert rows() == []


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_sound_messages_around_bad_ones_are_answered(serving: RestDoor, way: Way) -> None:
    with raw_client(serving.url, way) as client:
        for number in (0, -1, 10**30, "", "x", "é" * 3000, NUL):
            answer = tell(way, json.dumps(request(way, "tools/list", None, number)), "", client)
            assert answer.message["id"] == number
            bad = tell(way, b"{", "", client)
            assert bad.error["code"] == PARSE_ERROR
        assert tell(way, call(way), "", client).result["isError"] is False


METHODS: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "echo", "arguments": {}},
    "tools/list": {"cursor": None},
    "prompts/get": {"name": "ask", "arguments": {"topic": "x"}},
    "prompts/list": {"cursor": None},
    "resources/read": {"uri": "docs://guide"},
    "resources/list": {"cursor": None},
    "resources/subscribe": {"uri": "docs://guide"},
    "resources/unsubscribe": {"uri": "docs://guide"},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "ask"},
        "argument": {"name": "topic", "value": "x"},
        "context": {"arguments": {}},
    },
    "subscriptions/listen": {"notifications": {"toolsListChanged": True}},
    "initialize": {**INITIALIZE},
    "logging/setLevel": {"level": "info"},
    "tasks/get": {"taskId": "x"},
    "server/discover": {},
}


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_fields_of_the_wrong_type_are_refused_by_name_of_the_fault(
    serving: RestDoor, way: Way
) -> None:
    for method, sound in METHODS.items():
        for field in (*sound, "_meta"):
            for value in ODD_FIELDS:
                if field == "_meta" and way.mode == "auto":
                    continue
                message = request(way, method, sound)
                message["params"][field] = value
                answer = tell(way, json.dumps(message), serving.url)
                known = {INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, -32020, -32021, -32022}
                clear = answer.error.get("code") in known or "result" in answer.message
                assert clear, (method, field, value, answer)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_control_characters_and_long_texts_are_nothing_special(serving: RestDoor, way: Way) -> None:
    for text in (NUL, f"a{NUL}b", "\u202e", "é" * 50_000, "x" * 200_000, "../..", "%00"):
        for message in messages_with(way, text):
            answer = tell(way, json.dumps(message), serving.url)
            code = answer.error.get("code")
            refused = code in {METHOD_NOT_FOUND, INVALID_PARAMS, INVALID_REQUEST, -32020}
            assert refused or answer.result, (message["method"], text[:20], answer)
    written = ToolRequest.objects.filter(tool="echo")
    wait_until(lambda: written.filter(finished_at__isnull=False).count() == 14, what="14 rows")


def messages_with(way: Way, text: str) -> Iterator[dict[str, Any]]:
    """`text` at every place that takes one, where it makes no difference to the headers."""
    yield request(way, "tools/call", {"name": "echo", "arguments": {"a": text, text: 1}})
    ids = {"request_id": text, "thread_id": text, "correlation_id": text}
    yield request(way, "tools/call", {"name": "echo", "_meta": ids})
    yield request(way, "tools/list", {"cursor": text})
    yield request(way, "prompts/get", {"name": "ask", "arguments": {"topic": text}})
    yield request(way, "prompts/get", {"name": "ask", "arguments": {text: text}})
    argument = {"name": text, "value": text}
    ref = {"type": "ref/prompt", "name": "ask"}
    yield request(way, "completion/complete", {"ref": ref, "argument": argument})
    if way.transport != "streamable_http" or (text.isprintable() and len(text) < 10_000):
        yield request(way, "tools/call", {"name": text})
        yield request(way, "prompts/get", {"name": text})
        for uri in (text, f"docs://{text}", f"result://{text}?page={text}"):
            yield request(way, "resources/read", {"uri": uri})


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_unexpected_fault_is_told_without_its_words(
    serving: RestDoor, way: Way, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("a secret cause: password=hunter2")

    monkeypatch.setattr(offerings, "list_prompts", broken)
    answer = tell(way, json.dumps(request(way, "prompts/list")), serving.url)
    assert answer.error["code"] == -32603
    assert "hunter2" in caplog.text
    caplog.clear()


def test_a_binary_frame_ends_the_connection(serving: RestDoor) -> None:
    with connect(serving.url.replace("http", "ws", 1) + "/ws") as socket:
        socket.send(call(WAYS[5]).encode())
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1003


@pytest.mark.parametrize("way", WAYS[4:], ids=str)
def test_a_thousand_requests_in_one_go_are_all_answered(serving: RestDoor, way: Way) -> None:
    with connect(serving.url.replace("http", "ws", 1) + "/ws", max_size=None) as socket:
        opening = [request(way, "initialize", INITIALIZE, 0)] if way.mode == "legacy" else []
        calls = [
            request(way, "tools/call", {"name": "echo", "arguments": {"n": number}}, number)
            for number in range(1, 1001)
        ]
        for message in [*opening, *calls]:
            socket.send(json.dumps(message))
        answers = [json.loads(socket.recv(PATIENCE)) for _ in [*opening, *calls]]
    echoed = {
        answer["id"]: answer["result"]["structuredContent"]["echo"]["n"]
        for answer in answers
        if answer["id"]
    }
    assert echoed == {number: number for number in range(1, 1001)}
    wait_until(lambda: ToolRequest.objects.count() == 1000, what="a row for each call")


@pytest.mark.parametrize("way", WAYS[4:], ids=str)
def test_one_id_for_two_calls_at_once_gets_two_answers(serving: RestDoor, way: Way) -> None:
    with connect(serving.url.replace("http", "ws", 1) + "/ws") as socket:
        if way.mode == "legacy":
            socket.send(json.dumps(request(way, "initialize", INITIALIZE, 0)))
            socket.recv(PATIENCE)
        for word in ("first", "second"):
            asked = {"name": "echo", "arguments": {"word": word, "delay": 0.2}}
            socket.send(json.dumps(request(way, "tools/call", asked, 7)))
        answers = [json.loads(socket.recv(PATIENCE)) for _ in range(2)]
    assert [answer["id"] for answer in answers] == [7, 7]
    words = {answer["result"]["structuredContent"]["echo"]["word"] for answer in answers}
    assert words == {"first", "second"}
