import pytest
from pydantic import ValidationError

from tests.tools.pipelines.kinds.graph_index import ARTICLES
from tests.tools.pipelines.kinds.text_index import (
    COMMON,
    ask,
    bounds,
    ranked,
    run_on_articles,
    titles,
)
from tools.pipelines.contracts import Stage
from tools.pipelines.kinds.basic_rerank import BasicRerank, RerankParameters

DEFAULT_MODEL = "cross-encoder/ms-marco-MiniLM-L-6-v2"


def test_parameters_are_those_of_the_contract() -> None:
    # F0-05 S0-009
    assert bounds(BasicRerank) == {
        **COMMON,
        "top_k": ("integer", 10, 1, 100),
        "rerank_top_k": ("integer", 5, 1, 50),
        "reranker_model": ("string", DEFAULT_MODEL),
    }


def test_what_names_the_thing_itself_comes_first() -> None:
    assert titles(ask(BasicRerank(), "How dense is rye bread?"))[0] == "Rye bread"


def test_as_many_are_answered_as_the_second_stage_may_keep() -> None:
    # S0-041
    assert len(ask(BasicRerank(), "bread", top_k=8, rerank_top_k=2).found) == 2
    assert len(ask(BasicRerank(), "bread").found) == 5


def test_only_retrieved_passages_are_ordered_anew() -> None:
    few = ask(BasicRerank(), "bread dough", top_k=3)

    assert len(few.found) == 3
    assert few.metadata["candidates"] == 3
    assert set(titles(few)) < set(titles(ask(BasicRerank(), "bread dough", rerank_top_k=10)))


def test_keeping_more_than_was_retrieved_is_refused_in_plain_words() -> None:
    with pytest.raises(
        ValidationError, match=r"rerank_top_k \(8\) must not be greater than top_k \(4\)"
    ):
        RerankParameters(query="bread", top_k=4, rerank_top_k=8)


def test_a_small_top_k_alone_is_no_fault() -> None:
    # Defaults are filled in before: 5 is what was not said.
    assert RerankParameters(query="bread", top_k=3).answered == 3


def test_metadata_names_the_reranker_that_really_ran() -> None:
    told = ask(BasicRerank(), "bread").metadata

    assert told["reranker"] == "embedded-maxsim"
    assert told["reranker_requested"] == DEFAULT_MODEL
    assert told["candidates"] == 10


def test_the_second_stage_changes_the_order() -> None:
    questions = [f"What is said about {title}?" for title, _ in ARTICLES]
    deep = [ranked(BasicRerank(), question, 15, top_k=15) for question in questions]
    shallow = [
        ranked(BasicRerank(), question, 15, top_k=1, rerank_top_k=1) for question in questions
    ]

    assert deep != shallow
    assert [sorted(one) for one in deep] == [sorted(one) for one in shallow]


def test_ranking_for_measuring_begins_with_what_callers_get() -> None:
    found = ranked(BasicRerank(), "bread dough", 100)

    assert len(found) == len(set(found)) == len(ARTICLES)
    assert found[:5] == titles(ask(BasicRerank(), "bread dough"))


def test_both_stages_are_reported() -> None:
    stages: list[Stage] = []
    run = run_on_articles(report=lambda stage, message: stages.append(stage))

    ask(BasicRerank(), "bread", run)

    assert stages == [Stage.RETRIEVE, Stage.RERANK]
