"""Server-sent events, wherever their bytes are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.backends.upstream.transports.events import Event, EventReader, TooLong

STREAM = (
    "\ufeff: a comment\r\n\r\n"
    "data: one\n\n"
    "event: endpoint\rdata:/messages\r\r"
    "id: 7\r\nretry: 250\r\ndata: {\r\ndata: }\r\ndata:\r\n\r\n"
    "data\n\n"
    "event: empty\n\n"
    "data: ünd\u2028so\n\n"
    "data: half"
).encode()
EVENTS = [
    Event("", b"one"),
    Event("endpoint", b"/messages"),
    Event("", b"{\n}\n"),
    Event("", "ünd\u2028so".encode()),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    reader = EventReader()
    places = [0, *sorted(cuts), len(STREAM)]
    chunks = [STREAM[start:end] for start, end in itertools.pairwise(places)]
    assert [one for chunk in chunks for one in reader.feed(chunk)] == EVENTS
    assert (reader.last_id, reader.retry) == ("7", 250)


def test_ids_and_pauses_that_make_no_sense_are_passed_over() -> None:
    reader = EventReader()
    reader.feed(b"id: good\nretry: 10\n\nid: b\0d\nretry: soon\nretry: 99999999999\n\n")
    assert (reader.last_id, reader.retry) == ("good", 10)


@pytest.mark.parametrize(
    "chunk",
    [b"data: " + b"x" * 200, b"data: xxxxxxxxxx\n" * 20, b"data:\n" * 40, b": " + b"x" * 200],
)
def test_an_event_that_is_too_long_ends_the_reading(chunk: bytes) -> None:
    reader = EventReader(most_bytes=100)
    with pytest.raises(TooLong):
        reader.feed(chunk)


def test_many_short_events_are_not_too_long() -> None:
    reader = EventReader(most_bytes=100)
    assert len(reader.feed(b"data: xxxxxxxxxx\n\n" * 1000)) == 1000
