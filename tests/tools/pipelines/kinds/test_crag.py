from collections.abc import Mapping
from typing import Any

import pytest

from tests.tools.pipelines.kinds.text_index import (
    COMMON,
    ask,
    bounds,
    ranked,
    run_on_articles,
    titles,
)
from tools.pipelines.blocks.calibration import CALIBRATIONS, Evidence
from tools.pipelines.contracts import BlockUnavailable
from tools.pipelines.kinds.basic_rerank import BasicRerank
from tools.pipelines.kinds.crag import Crag

CLEAR = "Which opera did the composer Marla Quist write?"
VAGUE = "What is the price of copper in Lisbon?"
PAGES = {"results": [{"title": "Copper", "url": "https://example.org/cu", "snippet": "Nine."}, {}]}


def test_parameters_are_those_of_the_contract() -> None:
    # F0-06 S0-009 S0-024
    assert bounds(Crag) == {
        **COMMON,
        "top_k": ("integer", 5, 1, 50),
        "confidence_threshold": ("number", 0.8, 0, 1),
        "correction_strategy": ("string", "rewrite", "rewrite", "web_search", "both"),
        "enable_web_search": ("boolean", False),
    }


def test_metadata_tells_confidence_and_correction() -> None:
    # S0-046 F0-17
    told = ask(Crag(), VAGUE).metadata

    assert told["correction_applied"] is True
    assert 0 <= told["confidence_score"] < 0.8
    assert told["original_query"] == VAGUE
    assert told["rewritten_query"].startswith(VAGUE + " ")
    assert told["correction_strategy_used"] == "rewrite"
    assert told["web_search"] == "not asked for"


def test_a_confident_result_is_left_as_it_is() -> None:
    found = ask(Crag(), CLEAR, confidence_threshold=0.3)

    assert titles(found)[0] == "Marla Quist"
    assert found.metadata["correction_applied"] is False
    assert found.metadata["correction_strategy_used"] is None
    assert found.metadata["rewritten_query"] is None
    assert titles(found) == titles(ask(BasicRerank(), CLEAR))


def test_what_the_passages_answer_is_trusted_more_than_what_they_do_not() -> None:
    clear, vague = (ask(Crag(), query).metadata["confidence_score"] for query in (CLEAR, VAGUE))

    assert clear > vague + 0.2


@pytest.mark.parametrize(("threshold", "corrected"), [(0.0, False), (1.0, True)])
def test_the_threshold_decides_whether_to_correct(threshold: float, corrected: bool) -> None:
    told = ask(Crag(), CLEAR, confidence_threshold=threshold).metadata

    assert told["correction_applied"] is corrected


def test_a_corrected_search_still_finds_what_was_asked_for() -> None:
    corrected = ask(Crag(), "What is rye bread like?", confidence_threshold=1.0)

    assert titles(corrected)[0] == "Rye bread"
    assert len(corrected.found) == 5


def test_without_a_search_tool_it_is_said_and_nothing_made_up() -> None:
    found = ask(Crag(), VAGUE, correction_strategy="web_search")

    assert found.metadata["web_search"] == "not configured"
    assert found.metadata["correction_applied"] is False
    assert found.metadata["correction_strategy_used"] is None
    assert found.context == ()


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ({"correction_strategy": "web_search"}, "web_search"),
        ({"correction_strategy": "both"}, "both"),
        ({"enable_web_search": True}, "both"),
    ],
)
def test_the_configured_tool_is_asked_and_its_pages_are_read(
    asked: dict[str, Any], used: str
) -> None:
    calls: list[tuple[str, Mapping[str, Any]]] = []

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        calls.append((name, arguments))
        return PAGES

    run = run_on_articles(call_tool=call, web_search_tool="search_web")
    found = ask(Crag(), VAGUE, run, **asked)

    assert calls == [("search_web", {"query": VAGUE})]
    assert found.metadata["correction_strategy_used"] == used
    assert found.metadata["web_search"] == "1 results"
    page = found.context[-1]
    assert (page.text, page.title, page.metadata["source"]) == (
        "Nine.",
        "Copper",
        "https://example.org/cu",
    )
    assert len(found.context) == len(found.found) + 1


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        ("one plain text", ["one plain text"]),
        (["first", {"content": "second", "link": "x"}], ["first", "second"]),
        ({"text": "whole"}, ["whole"]),
        ({"results": []}, []),
        (7, []),
        ([{"text": f"page {number}"} for number in range(9)], [f"page {n}" for n in range(5)]),
    ],
)
def test_results_of_many_shapes_are_read(data: Any, texts: list[str]) -> None:
    run = run_on_articles(call_tool=lambda name, arguments: data, web_search_tool="search_web")
    found = ask(Crag(), VAGUE, run, correction_strategy="web_search")

    assert [page.text for page in found.context[len(found.found) :]] == texts


def test_a_search_that_fails_is_said() -> None:
    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        raise BlockUnavailable("the tool is away")

    run = run_on_articles(call_tool=call, web_search_tool="search_web")
    found = ask(Crag(), VAGUE, run, correction_strategy="both")

    assert found.metadata["web_search"] == "failed: the tool is away"
    assert found.metadata["correction_strategy_used"] == "rewrite"


def test_ranking_for_measuring_begins_with_what_callers_get() -> None:
    assert ranked(Crag(), VAGUE, 100)[:5] == titles(ask(Crag(), VAGUE))


@pytest.mark.parametrize("model", list(CALIBRATIONS))
def test_confidence_grows_with_each_kind_of_evidence(model: str) -> None:
    calibration = CALIBRATIONS[model]
    base = calibration.confidence(Evidence(0.7, 0.05, 0.5))

    assert 0 < base < 1
    assert calibration.confidence(Evidence(0.8, 0.05, 0.5)) > base
    assert calibration.confidence(Evidence(0.7, 0.10, 0.5)) > base
    assert calibration.confidence(Evidence(0.7, 0.05, 1.0)) > base
    assert 0 < calibration.confidence(Evidence(0.7, 0.05, None)) < 1
