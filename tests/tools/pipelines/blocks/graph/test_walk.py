"""Walks over the entity graph: what they reach, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.pipelines.blocks.graph.shelves import CHAIN, only, shelf
from tools.pipelines.blocks.graph import build_graph, open_graph
from tools.pipelines.blocks.graph.walk import MappedGraph
from tools.pipelines.contracts import Found


def graph(folder: Path, articles: Sequence[tuple[str, str]]) -> MappedGraph:
    """The graph of these articles, written to a folder and opened from there."""
    build_graph(folder, shelf(articles))
    return open_graph(folder)


def reached(
    found: MappedGraph, seeds: Found, *, depth: int, query: str = "", count: int = 100
) -> set[int]:
    return set(found.walk(query, seeds, depth=depth, count=count).found.rows.tolist())


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> MappedGraph:
    return graph(tmp_path_factory.mktemp("graph"), CHAIN)


@pytest.mark.parametrize(
    ("depth", "rows"), [(1, {0, 1}), (2, {0, 1, 2}), (3, {0, 1, 2, 3}), (5, {0, 1, 2, 3, 4})]
)
def test_each_step_of_depth_reaches_the_passages_named_by_those_before(
    chain: MappedGraph, depth: int, rows: set[int]
) -> None:
    # F0-07
    assert reached(chain, only(0), depth=depth) == rows


def test_what_the_question_names_is_where_a_walk_starts(chain: MappedGraph) -> None:
    walked = chain.walk("Who knows Silver Harbour?", Found.nothing(), depth=1, count=10)

    assert walked.query_entities == ("Silver Harbour",)
    assert walked.found.rows.tolist()[0] == 1, "the passage about it comes before one that names it"
    assert set(walked.found.rows.tolist()) == {0, 1}


def test_names_are_known_in_lower_case_and_with_endings_too(chain: MappedGraph) -> None:
    for question in ("what is tavrin", "TAVRIN?", "Where is Tavrin's mill?"):
        walked = chain.walk(question, Found.nothing(), depth=1, count=10)
        assert "Tavrin" in walked.query_entities, question


def test_scores_fall_and_no_more_are_found_than_asked_for(chain: MappedGraph) -> None:
    found = chain.walk("Mount Helva", only(0), depth=5, count=3).found

    assert len(found) == 3
    assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
    assert found.scores[-1] > 0


def test_a_rare_name_pulls_more_than_a_common_one(tmp_path: Path) -> None:
    common = [(f"Note {number}", f"Report {number} came from Bergen.") for number in range(15)]
    articles = [
        ("Start", "The letter was sent from Bergen by Ulla Mork."),
        ("Rare", "The archive keeps the diary of Ulla Mork."),
        *common,
    ]

    found = graph(tmp_path, articles).walk("", only(0), depth=1, count=20).found

    assert found.rows.tolist()[:2] == [0, 1]
    assert set(found.rows.tolist()) == set(range(17))


def test_what_nearly_every_passage_names_connects_nothing(tmp_path: Path) -> None:
    articles = [(f"Note {number}", f"Item {number} belongs to Acme.") for number in range(60)]

    assert reached(graph(tmp_path, articles), only(0), depth=5, query="Acme") == {0}


def test_prose_without_capitals_is_tied_by_its_phrases(tmp_path: Path) -> None:
    articles = [
        ("", "the boundary layer grows along the heated plate ."),
        ("", "a laminar boundary layer was measured in the tunnel ."),
        ("", "wing sections of small camber were tested ."),
    ]

    assert reached(graph(tmp_path, articles), only(0), depth=1) == {0, 1}


def test_a_word_at_the_start_of_a_sentence_is_no_name(tmp_path: Path) -> None:
    articles = [
        ("", "Soon the wind turned, as soon as it was dark. Rain fell on Oslo."),
        ("", "Soon we will know. They left as soon as they could, for Bergen."),
    ]

    assert reached(graph(tmp_path, articles), only(0), depth=5) == {0}


def test_a_title_that_is_a_common_word_is_not_meant_by_the_word(tmp_path: Path) -> None:
    articles = [
        ("Brother", "Brother is a song. The singers of Brother met at school."),
        ("", "My brother lives in Oslo with another brother."),
        ("", "They played Brother at the end."),
    ]

    assert reached(graph(tmp_path, articles), only(0), depth=1) == {0, 2}


def test_headings_below_a_title_are_named_as_titles_are(tmp_path: Path) -> None:
    articles = [
        ("Handbook > Rate Limits", "Each caller has a number of calls per minute."),
        ("Errors", "A refusal says which of the Rate Limits was met."),
    ]

    assert reached(graph(tmp_path, articles), only(1), depth=1) == {0, 1}


def test_names_in_other_scripts_are_found(tmp_path: Path) -> None:
    articles = [
        ("Łódź", "Łódź leży w Polsce. W Łodzi mieszkał Józef Żółty."),
        ("", "Książkę napisał Józef Żółty."),
        ("東京", "東京は大きい。"),
        ("", "私は「東京」へ行く。"),
        ("Пётр Орлов", "Пётр Орлов родился в Москве."),
        ("", "Книгу написал Пётр Орлов."),
    ]
    found = graph(tmp_path, articles)

    assert 1 in reached(found, only(0), depth=1)
    assert 5 in reached(found, only(4), depth=1)
    assert "東京" in found.walk("東京について", Found.nothing(), depth=1, count=5).query_entities


@pytest.mark.parametrize(
    "articles",
    [
        [],
        [("", "")],
        [("", "?!")],
        [("One", "Only one passage, about One Thing.")],
        [("", "it is what it is"), ("", "so they were")],
    ],
)
def test_little_or_nothing_to_walk_over_is_no_fault(
    tmp_path: Path, articles: list[tuple[str, str]]
) -> None:
    found = graph(tmp_path, articles)
    seeds = only(*range(len(articles)))

    walked = found.walk("What about One Thing?", seeds, depth=3, count=5)

    assert set(walked.found.rows.tolist()) == set(range(len(articles)))


def test_the_longest_question_is_walked_from(chain: MappedGraph) -> None:
    question = ("Silver Harbour and \ud800 Tavrin; " * 400)[:8000]

    walked = chain.walk(question, only(5), depth=2, count=10)

    assert set(walked.query_entities) == {"Silver Harbour", "Tavrin"}
    assert {0, 1, 2, 5} <= set(walked.found.rows.tolist())


def test_coverage_is_the_share_of_the_names_asked_for(chain: MappedGraph) -> None:
    question = "Did Marla Quist ever see Mount Helva?"

    assert chain.coverage(question, np.array([0])) == 0.5
    assert chain.coverage(question, np.array([0, 4])) == 1.0
    assert chain.coverage(question, np.array([5])) == 0.0
    assert chain.coverage(question, np.empty(0, np.int64)) == 0.0


def test_a_name_that_no_passage_has_is_not_covered(chain: MappedGraph) -> None:
    assert chain.coverage("Did Marla Quist meet Zorban Lux?", np.array([0])) == 0.5
    assert chain.coverage("Who is Zorban Lux?", np.array([0])) == 0.0


def test_a_question_that_names_nothing_has_no_coverage(chain: MappedGraph) -> None:
    assert chain.coverage("how does it work", np.array([0, 1])) is None
