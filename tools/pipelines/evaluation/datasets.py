"""Collections with relevance judgements, in the layout of BEIR.

A folder with `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and `qrels.tsv`
(query, document, grade; a heading line is allowed), which may also lie in `qrels/test.tsv`.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.techniques import LONGEST_QUERY

QUESTION_FILE: Final = "queries.jsonl"
JUDGEMENT_FILES: Final = ("qrels.tsv", "qrels/test.tsv")
_COLUMNS: Final = 3


class DatasetFault(Exception):
    """The collection cannot be used; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """One document of a collection."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A collection. `judgements` has, by query, the grade of each judged document."""

    name: str
    documents: Mapping[str, JudgedDocument]
    queries: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, int]]

    @property
    def judged_queries(self) -> dict[str, str]:
        """The queries that have something to find, in the order of their file."""
        return {
            query_id: text
            for query_id, text in self.queries.items()
            if any(grade > 0 for grade in self.judgements.get(query_id, {}).values())
        }


def read_dataset(folder: Path) -> Dataset:
    """The collection in `folder`.

    Raises:
        DatasetFault: a file is missing or a line of it cannot be used.
    """
    _check_folder(folder)
    documents = {item["_id"]: _document(item) for _, item in _items(folder / "corpus.jsonl")}
    return _judged(folder, documents, documents)


def read_questions(folder: Path) -> Dataset:
    """The questions and judgements in `folder` about documents that are elsewhere.

    Raises:
        DatasetFault: as `read_dataset` does.
    """
    _check_folder(folder)
    return _judged(folder, {}, None)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise DatasetFault(f"{folder} is not a folder")


def _judged(
    folder: Path, documents: Mapping[str, JudgedDocument], known: Container[str] | None
) -> Dataset:
    queries: dict[str, str] = {}
    path = folder / QUESTION_FILE
    for number, item in _items(path):
        if not 0 < len(item["text"].strip()) <= LONGEST_QUERY:
            raise DatasetFault(
                f"{path.name} line {number}: text must have 1 to {LONGEST_QUERY} characters"
            )
        queries[item["_id"]] = item["text"]
    judgements = _judgements(_judgement_file(folder), known, queries)
    dataset = Dataset(folder.resolve().name, documents, queries, judgements)
    if not dataset.judged_queries:
        raise DatasetFault(f"{folder} judges no document relevant to any query")
    return dataset


def _document(item: Mapping[str, Any]) -> JudgedDocument:
    return JudgedDocument(item["_id"], item.get("title") or "", item["text"])


def _items(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with the numbers of their lines; each id once, at least one."""
    seen: set[str] = set()
    for number, line in _lines(path):
        try:
            item = json.loads(line)
        except ValueError:
            raise DatasetFault(f"{path.name} line {number}: not JSON") from None
        fault = _item_fault(item, seen)
        if fault:
            raise DatasetFault(f"{path.name} line {number}: {fault}")
        seen.add(item["_id"])
        yield number, item
    if not seen:
        raise DatasetFault(f"{path.name} is empty")


def _item_fault(item: Any, seen: set[str]) -> str:
    if not isinstance(item, dict):
        return "not a JSON object"
    for key in ("_id", "text"):
        if not isinstance(item.get(key), str):
            return f"{key} must be a text"
    if not isinstance(item.get("title") or "", str):
        return "title must be a text"
    if not item["_id"]:
        return "_id is empty"
    return f"_id {item['_id']!r} stands there twice" if item["_id"] in seen else ""


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, numbered from 1."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except FileNotFoundError:
        raise DatasetFault(f"{path.name} is missing in {path.parent}") from None
    except UnicodeDecodeError:
        raise DatasetFault(f"{path.name} is not UTF-8") from None
    except OSError as fault:
        raise DatasetFault(f"{path.name} cannot be read: {fault.strerror}") from None


def _judgement_file(folder: Path) -> Path:
    for name in JUDGEMENT_FILES:
        if (folder / name).exists():
            return folder / name
    raise DatasetFault(f"{JUDGEMENT_FILES[0]} is missing in {folder}")


def _judgements(
    path: Path, documents: Container[str] | None, queries: Container[str]
) -> dict[str, dict[str, int]]:
    judgements: dict[str, dict[str, int]] = {}
    first = True
    for number, line in _lines(path):
        columns = line.rstrip("\r\n").split("\t")
        place, heading, first = f"{path.name} line {number}", first, False
        if len(columns) != _COLUMNS:
            raise DatasetFault(f"{place}: expected {_COLUMNS} columns with tabs between them")
        query_id, document_id, grade = columns
        try:
            judged = int(grade)
        except ValueError:
            if heading:
                continue
            raise DatasetFault(f"{place}: the grade {grade!r} is not a whole number") from None
        if query_id not in queries:
            raise DatasetFault(f"{place}: no query {query_id!r} in queries.jsonl")
        if documents is not None and document_id not in documents:
            raise DatasetFault(f"{place}: no document {document_id!r} in corpus.jsonl")
        judgements.setdefault(query_id, {})[document_id] = judged
    return judgements
