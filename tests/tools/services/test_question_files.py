"""Labelled questions from files, typed lines and folders; what cannot be used is told by its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.judged import write_collection
from tools.services.question_files import (
    MOST_BYTES,
    Labelled,
    QuestionFaults,
    key_of,
    read_file,
    read_folder,
    read_typed,
)

GRADED = (
    '{"id": "q1", "question": "Who oils the pump?", "relevant": {"pumps.md": 2, "birds.txt": 0}}'
)


def lines(*items: Any) -> bytes:
    return "\n".join(json.dumps(item) for item in items).encode()


def faults(name: str, content: bytes | str) -> list[str]:
    given = content.encode() if isinstance(content, str) else content
    with pytest.raises(QuestionFaults) as told:
        read_file(name, given)
    return told.value.faults


def relevant(questions: list[Labelled]) -> dict[str, dict[str, int]]:
    return {one.text: one.relevant for one in questions}


def test_json_lines_name_documents_as_text_list_or_graded_object() -> None:
    content = lines(
        {"question": "Who?", "relevant": "a.md"},
        {"question": "What?", "relevant": ["a.md", "naïve ⚓.md"]},
    )
    read = read_file("set.JSONL", b"\xef\xbb\xbf" + content + b"\n\n" + GRADED.encode())
    assert relevant(read) == {
        "Who?": {"a.md": 1},
        "What?": {"a.md": 1, "naïve ⚓.md": 1},
        "Who oils the pump?": {"pumps.md": 2, "birds.txt": 0},
    }
    assert [one.key for one in read] == [key_of("Who?"), key_of("What?"), "q1"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_has_one_document_a_line_and_joins_those_of_a_question(separator: str) -> None:
    rows = [
        ["ID", "Question", "Document", "Grade"],
        ["q1", "Who oils the pump?", "pumps.md", "2"],
        ["q1", "Who oils the pump?", "birds.txt", "0"],
        ["", "When?", "birds.txt", ""],
    ]
    content = "\r\n".join(separator.join(row) for row in rows)
    read = read_file("set.csv", content.encode())
    assert relevant(read) == {
        "Who oils the pump?": {"pumps.md": 2, "birds.txt": 0},
        "When?": {"birds.txt": 1},
    }


def test_typed_lines_name_documents_behind_bars_with_grades() -> None:
    read = read_typed("Who oils the pump? | pumps.md | manual.pdf = 2\n\n When? | a=b.txt \n")
    assert relevant(read) == {
        "Who oils the pump?": {"pumps.md": 1, "manual.pdf": 2},
        "When?": {"a=b.txt": 1},
    }


def test_a_folder_of_the_evaluate_command_is_read_without_its_documents(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "small")
    (folder / "corpus.jsonl").unlink()
    read = {one.key: one.relevant for one in read_folder(f" {folder} ")}
    assert read == {
        "q1": {"bird 2": 2, "bread-3": 0},
        "q2": {"pump/1": 1},
        "q3": {"bread-3": 1, "copy-4": 1},
    }


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "Line 1: not JSON. One object a line: "),
        ("[1]", "Line 1: question is missing. "),
        ('\n\n{"relevant": ["a"]}', "Line 3: question is missing. "),
        ('{"question": 3, "relevant": ["a"]}', "Line 1: question is missing. "),
        ('{"question": " ", "relevant": ["a"]}', "Line 1: the question is empty."),
        ('{"question": "Who?"}', "Line 1: Name at least one document"),
        ('{"question": "Who?", "relevant": []}', "Line 1: Name at least one document"),
        ('{"question": "Who?", "relevant": [1]}', "Line 1: Name at least one document"),
        ('{"question": "Who?", "relevant": {"a": 1.5}}', "Line 1: The grade of a must be a whole"),
        ('{"question": "Who?", "relevant": {"a": true}}', "Line 1: The grade of a must be a whole"),
        ('{"question": "Who?", "relevant": {"a": -1}}', "Line 1: The grade of a must be a whole"),
        ('{"question": "Who?", "relevant": {"a": 0}}', "Line 1: no document answers it."),
        ('{"question": "Who?", "relevant": {" ": 1}}', "Line 1: ' ' cannot be the name"),
        ('{"question": "' + "x" * 8001 + '", "relevant": ["a"]}', "Line 1: the question has 8,001"),
        ('{"id": "' + "x" * 101 + '", "question": "Who?", "relevant": ["a"]}', "Line 1: the id"),
        (
            '{"question": "\\ud800?", "relevant": ["a"]}',
            "Line 1: it holds characters that are none",
        ),
        ('{"question": "Who?", "relevant": ["\\udfff"]}', "Line 1: '\\udfff' cannot be the name"),
        ("[" * 100_000, "Line 1: not JSON."),
        ("", "There is no question in it."),
    ],
)
def test_a_bad_line_is_told_by_its_number_and_what_to_do(content: str, told: str) -> None:
    assert faults("set.jsonl", content)[0].startswith(told)


def test_all_bad_lines_are_told_at_once_and_good_ones_are_not_taken() -> None:
    content = f"{GRADED}\nnope\n{GRADED.replace('Who oils', 'Who paints')}\n"
    told = faults("set.jsonl", content)
    assert [one.split(":")[0] for one in told] == ["Line 2", "Line 3"]
    assert told[1].startswith("Line 3: the id q1 is that of another question in line 1.")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("who,where\na,b", "Line 1: the columns must be named question, document"),
        ("question,document,grade\nWho?,a.md,two", "Line 2: The grade of a.md must be"),
        ("question,document,grade\nWho?,a.md,99999999999", "Line 2: The grade of a.md must be"),
        ("question,document\nWho?,", "Line 2: document is empty."),
        ("question,document\n,a.md", "Line 2: the question is empty."),
        ('question,document\n"Who?,a.md', "Line 2: unexpected end of data."),
        ("", "Line 1: the columns must be named"),
    ],
)
def test_a_bad_line_of_csv_is_told(content: str, told: str) -> None:
    assert faults("set.csv", content)[0].startswith(told)


def test_what_is_no_text_or_too_large_is_told() -> None:
    assert faults("set.jsonl", b"a\n\xff\xfe") == [
        "Line 2: not UTF-8. Save the file in UTF-8.",
    ]
    assert faults("set.jsonl", b"\0") == ["The file holds NUL characters; it is no text."]
    assert faults("set.xlsx", b"PK") == ["set.xlsx: use a file that ends in .jsonl or .csv."]
    assert faults("set.csv", b" " * (MOST_BYTES + 1)) == [
        "The file is larger than 10 MiB. Split it."
    ]
    rows = "".join(f"q{number},a.md\n" for number in range(10_001))
    assert faults("set.csv", "question,document\n" + rows) == [
        "10,001 questions; 10,000 are the most."
    ]


@pytest.mark.parametrize("typed", ["Who oils the pump?", "Who? | | "])
def test_a_typed_line_without_documents_is_told(typed: str) -> None:
    with pytest.raises(QuestionFaults, match=r"Line 1: no document is named\. Write: question"):
        read_typed(typed)


@pytest.mark.parametrize("folder", ["", "no/such/folder", "a\0b", "x" * 5000])
def test_a_folder_that_is_none_is_told(folder: str) -> None:
    with pytest.raises(QuestionFaults):
        read_folder(folder or "/dev/null")


def test_a_folder_with_too_large_a_file_or_none_that_ends_is_not_read(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "large")
    with (folder / "queries.jsonl").open("r+b") as file:
        # Takes no room on the disk.
        file.truncate((50 << 20) + 1)
    with pytest.raises(QuestionFaults, match=r"queries\.jsonl is larger than 50 MiB\. Split it\."):
        read_folder(str(folder))
    folder = write_collection(tmp_path / "endless")
    (folder / "qrels.tsv").unlink()
    (folder / "qrels.tsv").symlink_to("/dev/zero")
    with pytest.raises(QuestionFaults, match=r"qrels\.tsv is not a file\."):
        read_folder(str(folder))
