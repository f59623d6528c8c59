"""Labelled questions as people bring them: JSON Lines, CSV, typed lines, or a folder in the layout of BEIR.

What cannot be used is told line by line, all of it at once: a file is mended in one go.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tools.models.questions import LONGEST_KEY, can_be_kept, judgement_faults
from tools.pipelines.evaluation.datasets import (
    JUDGEMENT_FILES,
    QUESTION_FILE,
    DatasetFault,
    read_questions,
)
from tools.techniques import LONGEST_QUERY

MOST_QUESTIONS: Final = 10_000
MOST_BYTES: Final = 10 << 20
# Of one file in a folder, which has more in it than a set takes: only judged questions go in.
MOST_FOLDER_BYTES: Final = 50 << 20
_SEPARATORS: Final = (",", ";", "\t")
_CSV_COLUMNS: Final = "question, document and, if you like, grade and id"
_JSON_EXAMPLE: Final = '{"question": "Who oils the pump?", "relevant": {"pumps.md": 2}}'


class QuestionFaults(Exception):
    """Nothing was taken; `faults` says why, each with its line."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


@dataclass(slots=True)
class Labelled:
    """One question, and where it was first read."""

    key: str
    text: str
    relevant: dict[str, int]
    line: int


@dataclass(slots=True)
class _Gathered:
    """Questions in the order in which they came, and what is wrong."""

    questions: dict[str, Labelled] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, line: int, key: str, text: str, relevant: Any) -> None:
        """A question, or more judgements of one that is there."""
        fault = _text_fault(key, text) or " ".join(judgement_faults(relevant)[:3])
        if fault:
            self.faults.append(f"Line {line}: {fault}")
            return
        key, text = key.strip() or key_of(text), text.strip()
        known = self.questions.setdefault(key, Labelled(key, text, {}, line))
        if known.text != text:
            self.faults.append(
                f"Line {line}: the id {key} is that of another question in line {known.line}. "
                "Give each question an id of its own, or none."
            )
            return
        known.relevant.update(relevant)

    def ended(self) -> list[Labelled]:
        """The questions, if all is well."""
        faults = self.faults
        for one in self.questions.values():
            if not any(one.relevant.values()):
                faults.append(
                    f"Line {one.line}: no document answers it. Name one with a grade of 1 or more."
                )
        if len(self.questions) > MOST_QUESTIONS:
            faults.append(f"{len(self.questions):,} questions; {MOST_QUESTIONS:,} are the most.")
        if not self.questions and not faults:
            faults.append("There is no question in it.")
        if faults:
            raise QuestionFaults(faults)
        return list(self.questions.values())


def key_of(text: str) -> str:
    """The id of a question that was given none: the same for the same question."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:12]


def read_file(name: str, content: bytes) -> list[Labelled]:
    """The questions of an uploaded file.

    Raises:
        QuestionFaults: it cannot be used as it is.
    """
    if len(content) > MOST_BYTES:
        raise QuestionFaults([f"The file is larger than {MOST_BYTES >> 20} MiB. Split it."])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content[: fault.start].count(b"\n") + 1
        raise QuestionFaults([f"Line {line}: not UTF-8. Save the file in UTF-8."]) from None
    if "\0" in text:
        raise QuestionFaults(["The file holds NUL characters; it is no text."])
    ending = Path(name).suffix.casefold()
    if ending in {".jsonl", ".ndjson", ".json"}:
        return _read_json_lines(text)
    if ending in {".csv", ".tsv"}:
        return _read_csv(text)
    raise QuestionFaults([f"{name}: use a file that ends in .jsonl or .csv."])


def read_typed(text: str) -> list[Labelled]:
    """Questions typed one a line, each with its documents behind bars: `Who? | a.md | b.md = 2`.

    Raises:
        QuestionFaults: a line cannot be used.
    """
    gathered = _Gathered()
    for number, line in _numbered(text.replace("\0", "").splitlines()):
        question, *named = (part.strip() for part in line.split("|"))
        relevant = dict(graded(one) for one in named if one)
        if not relevant:
            gathered.faults.append(
                f"Line {number}: no document is named. Write: question | document | document = grade"
            )
            continue
        gathered.add(number, "", question, relevant)
    return gathered.ended()


def read_folder(folder: str) -> list[Labelled]:
    """The questions of a folder as `manage.py evaluate --dataset` takes it.

    Raises:
        QuestionFaults: a file is missing or a line of it cannot be used.
    """
    try:
        place = Path(folder.strip())
        _check_files(place)
        dataset = read_questions(place)
    except (DatasetFault, OSError, ValueError) as fault:
        raise QuestionFaults([f"{fault}."]) from fault
    gathered = _Gathered()
    for number, (key, text) in enumerate(dataset.judged_queries.items(), start=1):
        grades = {name: max(0, grade) for name, grade in dataset.judgements[key].items()}
        gathered.add(number, key, text, grades)
    return gathered.ended()


def _check_files(folder: Path) -> None:
    """Before they are read: any folder of the server may be named, and nothing is known of what is in it."""
    for name in (QUESTION_FILE, *JUDGEMENT_FILES):
        file = folder / name
        # Pipes and devices are never read to their end.
        if file.exists() and not file.is_file():
            raise QuestionFaults([f"{name} is not a file."])
        if file.exists() and file.stat().st_size > MOST_FOLDER_BYTES:
            raise QuestionFaults(
                [f"{name} is larger than {MOST_FOLDER_BYTES >> 20} MiB. Split it."]
            )


def _read_json_lines(text: str) -> list[Labelled]:
    gathered = _Gathered()
    for number, line in _numbered(text.split("\n")):
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            gathered.faults.append(f"Line {number}: not JSON. One object a line: {_JSON_EXAMPLE}")
            continue
        if not isinstance(item, dict) or not isinstance(item.get("question"), str):
            gathered.faults.append(f"Line {number}: question is missing. Write {_JSON_EXAMPLE}")
            continue
        key = item.get("id", "")
        shown = str(key) if isinstance(key, str | int) else ""
        gathered.add(number, shown, item["question"], _grades(item.get("relevant")))
    return gathered.ended()


def _grades(given: Any) -> Any:
    """Judgements as an object, from whatever stands for them: a name, a list of names, an object."""
    if isinstance(given, str):
        return {given: 1}
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        return dict.fromkeys(given, 1)
    return given


def _read_csv(text: str) -> list[Labelled]:
    heading = text.split("\n", 1)[0]
    separator = max(_SEPARATORS, key=heading.count)
    gathered = _Gathered()
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = [str(name).strip().casefold() for name in rows.fieldnames or ()]
        if not {"question", "document"} <= set(columns):
            raise QuestionFaults([f"Line 1: the columns must be named {_CSV_COLUMNS}."])
        rows.fieldnames = columns
        for row in rows:
            _add_row(gathered, rows.line_num, row)
    except csv.Error as fault:
        told = f"Line {rows.reader.line_num}: {fault}. Is every quotation mark closed?"
        raise QuestionFaults([told]) from fault
    return gathered.ended()


def _add_row(gathered: _Gathered, line: int, row: Mapping[Any, Any]) -> None:
    cells = {key: (value or "").strip() for key, value in row.items() if isinstance(key, str)}
    if not any(cells.values()):
        return
    if not cells["document"]:
        gathered.faults.append(f"Line {line}: document is empty. Name one that answers it.")
        return
    grade = _number(cells.get("grade") or "1")
    gathered.add(line, cells.get("id", ""), cells["question"], {cells["document"]: grade})


def _number(text: str) -> int | str:
    """A grade as a number, or as it was written: that is told then."""
    whole = re.fullmatch(r"\s*(\d{1,4})\s*", text, re.ASCII)
    return int(whole[1]) if whole else text


def graded(part: str) -> tuple[str, int]:
    """A document and its grade, from `name` or `name = 2`."""
    name, _, grade = part.rpartition("=")
    if name.strip() and isinstance(number := _number(grade), int):
        return name.strip(), number
    return part, 1


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, numbered from 1."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line


def _text_fault(key: str, text: str) -> str:
    if not text.strip():
        return "the question is empty."
    if len(text.strip()) > LONGEST_QUERY:
        return f"the question has {len(text):,} characters; {LONGEST_QUERY:,} are the most."
    if not can_be_kept(text + key):
        return "it holds characters that are none; write them anew."
    if len(key.strip()) > LONGEST_KEY:
        return f"the id has more than {LONGEST_KEY} characters."
    return ""
