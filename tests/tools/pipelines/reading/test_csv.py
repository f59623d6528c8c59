"""Tables of values come out as records."""

from __future__ import annotations

import pytest

from tests.tools.pipelines.reading.files import read, shown
from tools.pipelines.reading import MOST_CHARACTERS, UnreadableDocument


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_are_records_of_columns_and_values(delimiter: str) -> None:
    rows = [("ship", "tons", "port"), ("Marigold", "30.5", "Orrin, north"), ("Tern", "12", "")]
    lines = [
        delimiter.join(f'"{value}"' if delimiter in value else value for value in row)
        for row in rows
    ]
    found = read("ships.csv", "\r\n".join(lines).encode())
    assert shown(found) == [
        ("record", "ship: Marigold; tons: 30.5; port: Orrin, north"),
        ("record", "ship: Tern; tons: 12"),
    ]
    assert found.metadata == {"columns": ["ship", "tons", "port"]}


def test_quotes_line_breaks_and_uneven_rows_are_understood() -> None:
    content = 'name,note\n"Ann ""the pilot""","two\nlines"\nBob,x,surplus\n\n,\nCy\n'
    assert [text for _, text in shown(read("a.csv", content.encode()))] == [
        'name: Ann "the pilot"; note: two\nlines',
        "name: Bob; note: x; column 3: surplus",
        "name: Cy",
    ]


def test_spreadsheet_export_of_windows_is_read() -> None:
    found = read("a.csv", "Ort;Höhe\nMünchen;519\n".encode("cp1252"))
    assert shown(found) == [("record", "Ort: München; Höhe: 519")]


def test_one_row_is_a_record_of_its_own() -> None:
    assert shown(read("a.csv", b"alone,here\n")) == [("record", "alone; here")]


def test_missing_quotation_mark_keeps_the_rows_before_it_and_is_told() -> None:
    content = 'a,b\n1,2\n3,"open\n' + "x,y\n" * 50_000
    found = read("a.csv", content.encode())
    assert shown(found) == [("record", "a: 1; b: 2")]
    assert "quotation mark is missing" in found.notes[0]


def test_missing_quotation_mark_in_the_first_row_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="quotation mark is missing"):
        read("a.csv", ('a,"b\n' + "x,y\n" * 50_000).encode())


def test_million_lines_are_read_in_part_and_it_is_told() -> None:
    content = b"number,square,what\n" + b"12,144,square\n" * 1_000_000
    found = read("big.csv", content)
    assert 0 < sum(len(block.text) for block in found.blocks) <= MOST_CHARACTERS
    assert "Only the first part was read" in found.notes[0]


def test_very_wide_rows_are_cut_and_it_is_told() -> None:
    content = (",".join(f"c{n}" for n in range(600)) + "\n" + ",".join("1" * 600) + "\n").encode()
    found = read("wide.csv", content)
    assert found.blocks[0].text.endswith("c499: 1")
    assert found.notes == ("Line 2 has more than 500 values; the rest is left.",)
