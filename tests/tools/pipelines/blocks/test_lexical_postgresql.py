"""Word search in PostgreSQL beside the embedded one: the same words find the same passages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from tools.pipelines.blocks.lexical import build_lexical, open_lexical
from tools.pipelines.blocks.lexical_postgresql import PostgresqlWords, build_words, drop_words
from tools.pipelines.contracts import IndexSource, LexicalIndex, Passage

pytestmark = pytest.mark.django_db

VERSION: Final = 900_002
TEXTS: Final = (
    "Pumps move water through the pipes of the plant.",
    "A pump that leaks water is repaired at once; the pump is then tried with water.",
    "Valves close the pipes.",
    "The cafeteria offers soup, bread and O'Reilly's coffee.",
    "Water quality is measured every morning in the plant, and the plant keeps the figures of water.",
    "",
)


@pytest.fixture(
    params=["files", pytest.param("postgresql", marks=pytest.mark.on_database("postgresql"))]
)
def words(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LexicalIndex]:
    passages = [
        Passage(row=row, passage_id=str(row), document="d", text=text, title="Manual")
        for row, text in enumerate(TEXTS)
    ]
    if request.param == "files":
        source = IndexSource(passages, np.empty((len(passages), 0), np.float32), [])
        build_lexical(tmp_path, source)
        yield open_lexical(tmp_path)
        return
    build_words(VERSION, passages)
    yield PostgresqlWords(VERSION, len(passages))
    drop_words(VERSION)


def test_rare_words_weigh_more_than_common_ones(words: LexicalIndex) -> None:
    found = words.search("leaking water pump", 10)
    assert found.rows.tolist()[:2] == [1, 0]
    assert set(found.rows.tolist()) == {0, 1, 4}
    assert list(found.scores) == sorted(found.scores, reverse=True)


def test_words_are_found_by_their_stems(words: LexicalIndex) -> None:
    assert words.search("repairing", 10).rows.tolist() == [1]


def test_rows_without_the_words_are_not_found(words: LexicalIndex) -> None:
    assert len(words.search("zebra", 10)) == 0
    assert len(words.search("the of and", 10)) == 0
    assert len(words.search("", 10)) == 0


def test_titles_count_as_words(words: LexicalIndex) -> None:
    assert len(words.search("manual", 10)) == len(TEXTS)


@pytest.mark.parametrize("query", ["O'Reilly's", "soup') | (bread", "\\ & ! | ( ) : *", "a\\'b"])
def test_marks_in_questions_are_no_syntax(words: LexicalIndex, query: str) -> None:
    assert set(words.search(query, 10).rows.tolist()) <= {3}


def test_only_allowed_rows_are_found(words: LexicalIndex) -> None:
    allowed = np.array([True, False, True, True, True, True])
    assert set(words.search("water", 10, allowed).rows.tolist()) == {0, 4}
    assert len(words.search("water", 1)) == 1
