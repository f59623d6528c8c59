"""Walks over the entity graph: what they reach, and how far."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.pipelines.blocks.graph.shelves import CHAIN, graph, only, reached
from tools.pipelines.blocks.graph.walk import MappedGraph
from tools.pipelines.contracts import Found


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
