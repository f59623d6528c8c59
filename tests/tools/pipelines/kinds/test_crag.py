import pytest

from tests.tools.pipelines.kinds.text_index import (
    COMMON,
    ask,
    bounds,
    ranked,
    titles,
)
from tools.pipelines.blocks.calibration import CALIBRATIONS, Evidence
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
