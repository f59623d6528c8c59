"""Answers about a collection as a whole, from communities of its passages."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.tools.pipelines.kinds.graph_index import ARTICLES, graph_index
from tools.pipelines.blocks.generation.extractive import ExtractiveGenerator
from tools.pipelines.contracts import Draft, OpenIndex, Retrieval, Run
from tools.pipelines.kinds.iris_global_graphrag import GlobalParameters, IrisGlobalGraphRag
from tools.techniques import input_schema

QUESTION = "What does a lighthouse do for ships?"
TITLES = [title for title, _ in ARTICLES]
LIGHTHOUSES = {"Lighthouse lamps", "Lighthouse keepers", "Lighthouse towers", "Fog signals"}


@pytest.fixture(scope="module")
def index() -> OpenIndex:
    return graph_index(51)


def ask(index: OpenIndex, query: str = QUESTION, **parameters: Any) -> Retrieval:
    run = Run(index, ExtractiveGenerator())
    return IrisGlobalGraphRag().retrieve(query, GlobalParameters(query=query, **parameters), run)


def answer(index: OpenIndex, **parameters: Any) -> tuple[Draft, dict[str, Any]]:
    kind, run = IrisGlobalGraphRag(), Run(index, ExtractiveGenerator())
    sent = GlobalParameters(query=QUESTION, **parameters)
    retrieval = kind.retrieve(QUESTION, sent, run)
    draft = kind.generate(QUESTION, sent, retrieval, run)
    return draft, dict(kind.tell(sent, retrieval, draft))


def test_parameters_are_those_of_the_contract() -> None:
    # F0-09
    properties = input_schema(IrisGlobalGraphRag, {})["properties"]

    top, level = properties["top_k"], properties["community_level"]
    assert (top["default"], top["minimum"], top["maximum"]) == (10, 1, 100)
    assert (level["default"], level["minimum"], level["maximum"]) == (1, 0, 5)
    assert properties["include_citations"]["default"] is False
    assert set(properties) == {
        "query", "top_k", "include_sources", "include_metadata", "community_level",
        "include_citations",
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{"top_k": 0}, {"top_k": 101}, {"community_level": -1}, {"community_level": 6}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GlobalParameters(query="?", **wrong)


def test_the_community_that_fits_the_question_is_used_first(index: OpenIndex) -> None:
    used = ask(index).metadata["communities"]

    assert "Lighthouse" in used[0]["title"] or "lighthouse" in used[0]["title"]
    assert set(used[0]) == {"id", "title", "size", "score"}
    assert [one["score"] for one in used] == sorted((one["score"] for one in used), reverse=True)


@pytest.mark.parametrize("level", range(6))
def test_passages_of_the_topic_come_first_at_every_level(index: OpenIndex, level: int) -> None:
    # S0-040
    result = ask(index, community_level=level, top_k=4)

    assert {TITLES[row] for row in result.found.rows.tolist()} == LIGHTHOUSES
    assert result.found.scores.tolist() == sorted(result.found.scores.tolist(), reverse=True)
    assert result.metadata["community_level"] == min(level, index.communities.levels - 1)


@pytest.mark.parametrize("count", [1, 3, 10])
def test_no_more_passages_than_asked_for(index: OpenIndex, count: int) -> None:
    # S0-041
    assert len(ask(index, top_k=count).found) == count


def test_what_is_read_are_sentences_of_the_passages_they_are_ascribed_to(index: OpenIndex) -> None:
    result = ask(index, top_k=2)
    read = result.context

    assert len(read) > 2, "summaries are read beside the passages"
    for passage in read:
        original = index.passage(passage.row)
        assert passage.passage_id == original.passage_id
        assert passage.text in original.text
    assert [passage.row for passage in read[-2:]] == result.found.rows.tolist()
    assert len({passage.row for passage in read}) == len(read)


def test_citations_are_told_and_marked_when_they_are_asked_for(index: OpenIndex) -> None:
    # F0-09
    draft, told = answer(index, include_citations=True)

    assert told["citations"]
    for citation in told["citations"]:
        assert f"[{citation['number']}]" in draft.text
        assert set(citation) == {"number", "passage_id", "source"}
        document = citation["passage_id"].partition("#")[0]
        assert citation["source"] == document


def test_no_citations_are_told_or_marked_when_they_are_not_asked_for(index: OpenIndex) -> None:
    draft, told = answer(index)
    marked, _ = answer(index, include_citations=True)

    assert "citations" not in told
    assert draft.text
    assert "[" not in draft.text
    assert "[" in marked.text
    assert draft.citations == marked.citations, "their sources are told all the same"


def test_a_ranking_goes_on_to_all_passages(index: OpenIndex) -> None:
    run = Run(index, ExtractiveGenerator())

    ranked = IrisGlobalGraphRag().rank(QUESTION, GlobalParameters(query=QUESTION), run, 100)

    assert sorted(ranked.rows.tolist()) == list(range(len(ARTICLES)))


@pytest.mark.parametrize("query", ["?", "žluťoučký kůň 東京 🐎", "lighthouse " * 727])
def test_any_question_is_taken(index: OpenIndex, query: str) -> None:
    assert len(ask(index, query).found) == 10


def test_one_passage_is_enough() -> None:
    result = ask(graph_index(52, ARTICLES[:1]))

    assert result.found.rows.tolist() == [0]
    assert result.metadata["communities"][0]["size"] == 1


def test_an_empty_index_answers_with_nothing() -> None:
    result = ask(graph_index(53, ()))

    assert len(result.found) == 0
    assert result.metadata["communities"] == []
    assert result.context == ()
