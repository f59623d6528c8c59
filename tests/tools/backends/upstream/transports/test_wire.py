"""JSON-RPC messages as bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools.backends.upstream.channel import Garbage, Message
from tools.backends.upstream.transports.wire import decode, encode, is_response, pick

NOTICE = {"jsonrpc": "2.0", "method": "notifications/told"}
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("value", ["ü\n\u2028", 2**80 + 1, "\ud800", 1.5, None, {"a": [True]}])
def test_every_value_of_json_is_written_on_one_line(value: Any) -> None:
    written = encode({"jsonrpc": "2.0", "id": 1, "params": {"value": value}})
    assert b"\n" not in written
    assert json.loads(written)["params"]["value"] == value


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"7", b'"text"', b"[1]", b'[{"a": 1}, 7]', b"\xff", b"NaN", b'{"a": NaN}', b"null"],
)
def test_what_is_no_message_is_garbage(raw: bytes) -> None:
    with pytest.raises(Garbage):
        decode(raw)


def test_json_that_is_nested_without_end_is_garbage() -> None:
    with pytest.raises(Garbage):
        decode(b'{"a":' * 100_000)


def test_a_batch_gives_its_messages() -> None:
    assert decode(json.dumps([NOTICE, ANSWER])) == [NOTICE, ANSWER]
    assert decode(b"[]") == []


def test_half_of_a_character_is_a_question_mark() -> None:
    (found,) = decode(b'{"jsonrpc": "2.0", "id": 1, "result": {"text": "cut \\ud83d, \\u00fc"}}')
    assert found["result"]["text"] == "cut ?, ü"
    assert encode(found)


@pytest.mark.parametrize(
    ("message", "response"),
    [
        (ANSWER, True),
        ({"id": 1, "error": {}}, True),
        (NOTICE, False),
        ({"id": 1, "method": "ping"}, False),
        ({"id": 1, "method": "ping", "result": {}}, False),
        ({"id": 1}, False),
    ],
)
def test_responses_are_told_from_requests_and_notices(message: Message, response: bool) -> None:
    assert is_response(message) is response


def test_the_answer_is_picked_and_the_rest_is_told() -> None:
    told: list[Message] = []
    other = {"jsonrpc": "2.0", "id": 2, "result": {}}
    raw = json.dumps([NOTICE, other, ANSWER]).encode()
    assert pick(raw, 1, told.append) == ANSWER
    assert told == [NOTICE]
    assert pick(json.dumps(other).encode(), 1, told.append) is None
    nameless = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700}}
    assert pick(json.dumps(nameless).encode(), 1, told.append) == nameless
