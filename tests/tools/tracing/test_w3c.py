"""W3C trace context: taken over when it is sound, left out when it is not."""

from __future__ import annotations

from typing import Any

import pytest

from tools.tracing import LONGEST, trace_of

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
OTHER = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00"


def test_the_context_is_taken_from_the_headers() -> None:
    headers = {"traceparent": PARENT, "tracestate": "a=1,b=2", "baggage": "user=7", "x": "y"}
    assert trace_of({}, headers) == {
        "traceparent": PARENT,
        "tracestate": "a=1,b=2",
        "baggage": "user=7",
    }


def test_what_the_message_says_goes_before_what_its_request_says() -> None:
    meta = {"traceparent": OTHER, "baggage": "user=8", "progressToken": 1}
    assert trace_of(meta, {"traceparent": PARENT, "baggage": "user=7"}) == {
        "traceparent": OTHER,
        "baggage": "user=8",
    }


@pytest.mark.parametrize(
    "parent",
    [
        None,
        "",
        7,
        ["00"],
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        PARENT.upper(),
        PARENT + "\n",
        PARENT + "-more",
        " " + PARENT,
        "ff" + PARENT[2:],
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01",
    ],
)
def test_without_a_sound_parent_there_is_no_context(parent: Any) -> None:
    assert trace_of({"traceparent": parent, "tracestate": "a=1"}, {"baggage": "b=2"}) == {}


@pytest.mark.parametrize(
    "state", ["", 7, "a=1\r\nX-Evil: 1", "ä=1", "a=" + "x" * LONGEST, {"a": 1}]
)
def test_unsound_companions_are_left_out(state: Any) -> None:
    assert trace_of({"traceparent": PARENT, "tracestate": state}, {}) == {"traceparent": PARENT}
