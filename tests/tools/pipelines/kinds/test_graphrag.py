"""Retrieval over the entity graph, with meaning and with words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.tools.pipelines.kinds.graph_index import ARTICLES, graph_index
from tools.pipelines.blocks.generation.extractive import ExtractiveGenerator
from tools.pipelines.contracts import OpenIndex, Retrieval, Run, Stage
from tools.pipelines.kinds.graphrag import GraphParameters, GraphRag
from tools.techniques import input_schema

QUESTION = "Which mountain does the river come from in the town of the opera by Marla Quist?"
TOWN = "Where was the work of Marla Quist first performed?"
METHODS = ("hybrid", "vector", "text", "graph", "rrf")
TITLES = [title for title, _ in ARTICLES]


@pytest.fixture(scope="module")
def index() -> OpenIndex:
    return graph_index(41)


def ask(index: OpenIndex, query: str = QUESTION, **parameters: Any) -> Retrieval:
    run = Run(index, ExtractiveGenerator())
    return GraphRag().retrieve(query, GraphParameters(query=query, **parameters), run)


def found(retrieval: Retrieval) -> list[str]:
    return [TITLES[row] for row in retrieval.found.rows.tolist()]


def test_parameters_are_those_of_the_contract() -> None:
    # F0-07 S0-009
    properties = input_schema(GraphRag, {})["properties"]

    assert properties["search_method"]["enum"] == list(METHODS)
    assert properties["search_method"]["default"] == "hybrid"
    depth, k, top = (properties[n] for n in ("graph_traversal_depth", "rrf_k", "top_k"))
    assert (depth["default"], depth["minimum"], depth["maximum"]) == (2, 1, 5)
    assert (k["default"], k["minimum"], k["maximum"]) == (60, 1, 100)
    assert (top["default"], top["minimum"], top["maximum"]) == (5, 1, 50)
    assert set(properties) == {
        "query", "top_k", "include_sources", "include_metadata", "search_method",
        "graph_traversal_depth", "rrf_k",
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"search_method": "magic"},
        {"graph_traversal_depth": 0},
        {"graph_traversal_depth": 6},
        {"rrf_k": 0},
        {"rrf_k": 101},
        {"top_k": 51},
        {"confidence_threshold": 0.5},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GraphParameters(query="?", **wrong)


def test_a_passage_tied_only_by_what_is_named_is_found_through_the_graph(
    index: OpenIndex,
) -> None:
    # The town is named by the opera's passage alone, and the question names neither.
    for method in ("vector", "text"):
        assert "Tavrin" not in found(ask(index, TOWN, search_method=method)), method
    for method in ("graph", "hybrid"):
        assert "Tavrin" in found(ask(index, TOWN, search_method=method)), method


def test_depth_decides_how_far_the_graph_is_followed(index: OpenIndex) -> None:
    assert "Tavrin" not in found(ask(index, TOWN, graph_traversal_depth=1))
    assert "Tavrin" in found(ask(index, TOWN, graph_traversal_depth=2))

    def score(title: str, depth: int) -> float:
        result = ask(
            index, TOWN, search_method="graph", graph_traversal_depth=depth, top_k=50
        ).found
        return float(result.scores[result.rows.tolist().index(TITLES.index(title))])

    # Each stands one step further from what is asked about.
    assert score("Tavrin", 2) > 100 * score("Tavrin", 1)
    assert score("Osk", 3) > 100 * score("Osk", 2)
    assert score("Mount Helva", 4) > 100 * score("Mount Helva", 3)


def test_each_method_orders_passages_in_its_own_way(index: OpenIndex) -> None:
    orders = {method: tuple(found(ask(index, search_method=method))) for method in METHODS}

    assert len(set(orders.values())) == len(METHODS), orders


@pytest.mark.parametrize("method", METHODS)
def test_metadata_tells_what_each_way_of_searching_contributed(
    index: OpenIndex, method: str
) -> None:
    # S0-048 F0-17
    told = ask(index, search_method=method, graph_traversal_depth=3).metadata

    assert told["search_method_used"] == method
    assert told["graph_traversal_depth"] == 3
    used = {way for way in ("vector", "text", "graph") if told[f"{way}_results"] > 0}
    assert used == (
        {method} if method in ("vector", "text", "graph") else {"vector", "text", "graph"}
    )
    assert 0 < told["rrf_score"] <= len(used) / 61


def test_the_rrf_score_is_that_of_the_best_passage_and_follows_k(index: OpenIndex) -> None:
    # S0-048
    fused = ask(index, search_method="rrf", rrf_k=10)
    alone = ask(index, search_method="vector", rrf_k=10)

    assert fused.metadata["rrf_score"] == pytest.approx(float(fused.found.scores[0]), rel=1e-5)
    assert alone.metadata["rrf_score"] == pytest.approx(1 / 11)
    assert ask(index, search_method="vector", rrf_k=100).metadata["rrf_score"] < 1 / 100


@pytest.mark.parametrize("method", METHODS)
def test_passages_come_best_first_and_no_more_than_asked_for(index: OpenIndex, method: str) -> None:
    # S0-040 S0-041
    result = ask(index, search_method=method, top_k=3).found

    assert 0 < len(result) <= 3
    assert result.scores.tolist() == sorted(result.scores.tolist(), reverse=True)
    assert len(set(result.rows.tolist())) == len(result)


def test_a_ranking_begins_with_what_is_retrieved_and_goes_on(index: OpenIndex) -> None:
    run = Run(index, ExtractiveGenerator())

    ranked = GraphRag().rank(QUESTION, GraphParameters(query=QUESTION), run, 100)

    assert ranked.rows.tolist()[:5] == ask(index).found.rows.tolist()
    assert len(ranked) == len(ARTICLES)


def test_what_is_being_done_is_reported(index: OpenIndex) -> None:
    stages: list[Stage] = []
    run = Run(index, ExtractiveGenerator(), report=lambda stage, message: stages.append(stage))

    GraphRag().retrieve(QUESTION, GraphParameters(query=QUESTION), run)

    assert set(stages) == {Stage.RETRIEVE}


def test_the_answer_names_what_the_passages_say(index: OpenIndex) -> None:
    query = "Where does the Osk spring?"
    run = Run(index, ExtractiveGenerator())
    parameters = GraphParameters(query=query)

    draft = GraphRag().generate(query, parameters, ask(index, query), run)

    assert "Mount Helva" in draft.text


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("query", ["?", "žluťoučký kůň 東京 🐎", "Tavrin " * 1142, "the of and"])
def test_any_question_is_taken(index: OpenIndex, method: str, query: str) -> None:
    result = ask(index, query, search_method=method)

    assert len(result.found) <= 5
    if method != "text":
        assert len(result.found) == 5


@pytest.mark.parametrize("method", METHODS)
def test_one_passage_is_enough(method: str) -> None:
    lonely = graph_index(42, ARTICLES[:1])

    assert ask(lonely, "Who was Marla Quist?", search_method=method).found.rows.tolist() == [0]


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_index_answers_with_nothing(method: str) -> None:
    result = ask(graph_index(43, ()), search_method=method)

    assert len(result.found) == 0
    assert result.metadata["rrf_score"] == 0.0
    assert result.metadata["vector_results"] == 0
