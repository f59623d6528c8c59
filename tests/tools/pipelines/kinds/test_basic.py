from tests.tools.pipelines.kinds.text_index import COMMON, ask, bounds, ranked, titles
from tools.pipelines.kinds.basic import Basic


def test_parameters_are_those_of_the_contract() -> None:
    # F0-04 S0-009
    assert bounds(Basic) == {**COMMON, "top_k": ("integer", 5, 1, 50)}


def test_passages_are_found_by_meaning() -> None:
    assert titles(ask(Basic(), "Warning vessels by sound in mist"))[0] == "Fog signals"


def test_no_more_are_found_than_asked_for() -> None:
    # S0-041
    assert len(ask(Basic(), "bread", top_k=3).found) == 3


def test_ranking_for_measuring_begins_with_what_callers_get() -> None:
    assert ranked(Basic(), "bread", 100)[:5] == titles(ask(Basic(), "bread"))
