"""Lines of JSON come out as records; bad ones are named and lose nothing else."""

from __future__ import annotations

import pytest

from tests.tools.pipelines.reading.files import read, shown
from tools.pipelines.reading import UnreadableDocument, media_type_of

LINES = (
    '{"_id": "d1", "title": "Tides", "text": "The tide turns.", "metadata": {"url": "x"}, "year": 1911}\n'
    "\n"
    "{not json}\n"
    '{"body": "No title here.\\u0000", "tags": ["a", "b"], "deep": {"er": {"still": 1}}}\n'
    '"just a text"\n'
    "[1, 2]\n"
    '{"ship": "Tern", "tons": 12, "crew": ["Ann", "Bo"]}'
)


def test_records_keep_their_title_and_metadata() -> None:
    found = read("docs.jsonl", LINES.encode())
    assert shown(found) == [
        ("heading", "Tides"),
        ("record", "The tide turns."),
        ("record", "No title here."),
        ("record", "just a text"),
        ("record", 'ship: Tern; tons: 12; crew: ["Ann","Bo"]'),
    ]
    assert found.blocks[1].heading_path == ("Tides",)
    assert found.blocks[1].metadata == {"_id": "d1", "metadata.url": "x", "year": 1911}
    assert found.blocks[2].heading_path == ()
    assert found.blocks[2].metadata == {"tags": ["a", "b"]}


def test_bad_lines_are_named_by_their_number() -> None:
    found = read("docs.jsonl", LINES.encode())
    assert [note.partition(" was")[0] for note in found.notes] == ["Line 3", "Line 6"]


def test_only_the_first_bad_lines_are_named() -> None:
    found = read("docs.jsonl", b'"good"\n' + b"bad\n" * 50)
    assert len(found.notes) == 21
    assert found.notes[-1] == "... and 30 more."


def test_file_of_bad_lines_alone_is_refused_with_the_first() -> None:
    with pytest.raises(UnreadableDocument, match="Line 1: it is not JSON"):
        read("docs.jsonl", b"one\ntwo\n")


def test_line_separators_within_a_text_do_not_end_the_line() -> None:
    found = read("docs.jsonl", '{"text": "one\u2028two"}\n{"text": "three"}'.encode())
    assert shown(found) == [("record", "one\ntwo"), ("record", "three")]


def test_record_nested_without_end_is_one_bad_line() -> None:
    deep = '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}"
    found = read("docs.jsonl", f'{deep}\n{{"text": "fine"}}'.encode())
    assert shown(found) == [("record", "fine")]


def test_records_are_known_without_a_name_for_them() -> None:
    assert media_type_of("upload", b'{"text": "a"}\n{"text": "b"}\n') == "application/jsonl"
