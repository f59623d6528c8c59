from pathlib import Path

import numpy as np
import pytest

from tools.pipelines.blocks.lexical import BM25Index, build_lexical, open_lexical
from tools.pipelines.contracts import IndexSource, Passage

TEXTS = (
    "The wing of an aeroplane carries its weight.",
    "Engines drive the aeroplane forward.",
    "A bridge carries trains across the river.",
    "Die Brücke über den Fluß trägt Züge. Café Müller liegt daneben.",
    "東京の橋は長い。",
    "To be, or not to be.",
)


def lexical(folder: Path, *texts: str, titles: tuple[str, ...] = ()) -> BM25Index:
    """The index of these texts, written to a folder and opened from there."""
    passages = [
        Passage(row, str(row), str(row), text, titles[row] if titles else "")
        for row, text in enumerate(texts)
    ]
    build_lexical(folder, IndexSource(passages, np.empty((0, 0), np.float32), []))
    return open_lexical(folder)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> BM25Index:
    return lexical(tmp_path_factory.mktemp("lexical"), *TEXTS)


def rows(index: BM25Index, text: str, count: int = 10) -> list[int]:
    return [int(row) for row in index.search(text, count).rows]


def test_passages_that_share_rarer_words_come_first(shelf: BM25Index) -> None:
    assert rows(shelf, "aeroplane engines") == [1, 0]


def test_a_word_is_found_in_its_other_forms(shelf: BM25Index) -> None:
    assert rows(shelf, "carrying a train") == [2, 0]


def test_scores_fall_from_the_first_to_the_last(shelf: BM25Index) -> None:
    scores = shelf.search("aeroplane wing carries", 10).scores

    assert list(scores) == sorted(scores, reverse=True)
    assert scores[0] > scores[-1] > 0


def test_only_so_many_are_found_as_asked_for(shelf: BM25Index) -> None:
    assert rows(shelf, "aeroplane carries", 1) == [0]
    assert rows(shelf, "aeroplane carries", 0) == []


@pytest.mark.parametrize("question", ["to be or not to be", "the", "", "?!", "unheardof"])
def test_a_question_without_a_known_telling_word_finds_nothing(
    shelf: BM25Index, question: str
) -> None:
    assert rows(shelf, question) == []


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("brucke", 3),
        ("BRÜCKE", 3),
        ("fluss", 3),
        ("Cafe\u0301", 3),
        ("橋", 4),
        ("ＡＥＲＯＰＬＡＮＥ", 1),
    ],
)
def test_case_accents_and_scripts_do_not_hide_a_word(
    shelf: BM25Index, question: str, row: int
) -> None:
    assert row in rows(shelf, question)


def test_halves_of_characters_do_no_harm(shelf: BM25Index) -> None:
    assert rows(shelf, "wing \ud83d aeroplane")[0] == 0


def test_only_allowed_rows_are_found(shelf: BM25Index) -> None:
    allowed = np.array([True, True, False, True, True, True])

    assert [int(row) for row in shelf.search("carries trains", 10, allowed).rows] == [0]
    assert len(shelf.search("carries", 10, np.zeros(len(TEXTS), bool))) == 0


def test_equal_scores_are_in_the_order_of_their_rows(tmp_path: Path) -> None:
    index = lexical(tmp_path, *["same words here"] * 7, "and others there")

    assert rows(index, "same words", 3) == [0, 1, 2]


def test_the_title_counts_as_text(tmp_path: Path) -> None:
    index = lexical(tmp_path, "It is long.", "It is short.", titles=("Rivers", "Brooks"))

    assert rows(index, "river") == [0]


def test_a_word_asked_for_twice_counts_twice(shelf: BM25Index) -> None:
    once, twice = shelf.search("river", 1), shelf.search("river river", 1)

    assert float(twice.scores[0]) == pytest.approx(2 * float(once.scores[0]))


@pytest.mark.parametrize("texts", [(), ("the and of", "")])
def test_an_index_without_words_finds_nothing(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert rows(lexical(tmp_path, *texts), "river") == []


def test_the_score_is_that_of_bm25(tmp_path: Path) -> None:
    index = lexical(tmp_path, "apple apple pear", "pear plum", "plum plum plum plum")
    # By hand: N=3, df=1, tf=2, length 3, mean length 3, k1=1.2, b=0.75; Lucene's variant.
    expected = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5)) * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 3))

    found = index.search("apple", 3)

    assert [int(row) for row in found.rows] == [0]
    assert float(found.scores[0]) == pytest.approx(expected, rel=1e-5)
