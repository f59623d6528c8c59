import pytest

from tests.tools.pipelines.kinds.text_index import COMMON, ask, bounds, ranked, titles
from tools.pipelines.kinds.pylate_colbert import PylateColbert

QUESTION = "Which bread is baked slowly in a falling oven?"


def test_parameters_are_those_of_the_contract() -> None:
    # F0-08 S0-009 S0-025
    assert bounds(PylateColbert) == {
        **COMMON,
        "top_k": ("integer", 5, 1, 50),
        "max_query_length": ("integer", 256, 32, 512),
        "interaction_threshold": ("number", 0.5, 0, 1),
        "compression_ratio": ("number", 0.8, 0.1, 1),
    }


def test_the_passage_that_matches_every_part_comes_first() -> None:
    found = titles(ask(PylateColbert(), QUESTION))

    assert found[0] == "Rye bread"
    assert len(found) == 5


def test_metadata_tells_what_was_compared_and_by_which_model() -> None:
    # S0-047
    told = ask(PylateColbert(), QUESTION).metadata

    assert told["token_interactions"] > 0
    assert told["compression_ratio"] == 0.8
    assert told["interaction_model"] == "embedded-maxsim"


def test_stronger_compression_compares_fewer_tokens() -> None:
    counts = [
        ask(PylateColbert(), QUESTION, compression_ratio=ratio).metadata["token_interactions"]
        for ratio in (1.0, 0.5, 0.1)
    ]

    assert counts[0] > counts[1] > counts[2] > 0
    assert counts[1] == pytest.approx(counts[0] / 2, rel=0.05)


def test_only_so_many_tokens_of_the_question_count_as_allowed() -> None:
    long = " ".join([QUESTION] * 20)
    few, many = (
        ask(PylateColbert(), long, max_query_length=length).metadata["token_interactions"]
        for length in (32, 256)
    )

    assert many > 2 * few


def test_the_default_threshold_leaves_out_nothing_that_fits() -> None:
    assert ask(PylateColbert(), QUESTION).metadata["below_threshold"] == 0


def test_a_higher_threshold_leaves_out_what_is_less_close() -> None:
    some, none = (
        ask(PylateColbert(), QUESTION, interaction_threshold=threshold) for threshold in (0.75, 1.0)
    )

    assert titles(some)[0] == "Rye bread"
    assert "Mount Helva" not in ranked(PylateColbert(), QUESTION, 15, interaction_threshold=0.75)
    assert some.metadata["below_threshold"] > 0
    assert titles(none) == []


def test_ranking_for_measuring_begins_with_what_callers_get() -> None:
    assert ranked(PylateColbert(), QUESTION, 100)[:5] == titles(ask(PylateColbert(), QUESTION))
