from math import erfc, sqrt

import numpy as np
import pytest

from tools.pipelines.evaluation.significance import compare


def values(*numbers: float) -> dict[str, float]:
    return {f"q{place}": number for place, number in enumerate(numbers)}


def test_equal_runs_do_not_differ() -> None:
    result = compare(values(0.1, 0.5, 0.9), values(0.1, 0.5, 0.9))

    assert result is not None
    assert (result.difference, result.p_value, result.better, result.worse) == (0.0, 1.0, 0, 0)


def test_few_queries_are_tested_exactly() -> None:
    result = compare(values(0.0, 0.0, 0.0), values(0.3, 0.2, 0.1))

    # Of the 8 ways to set the signs only + + + and - - - reach a sum of 0.6.
    assert result is not None
    assert result.p_value == 2 / 8
    assert result.difference == pytest.approx(0.2)
    assert (result.better, result.worse, result.queries) == (3, 0, 3)


def test_a_steady_gain_over_many_queries_is_significant_and_swaying_is_not() -> None:
    before = np.random.default_rng(7).random(200)
    sways = np.tile([0.1, -0.1], 100)
    gained = compare(values(*before), values(*(before + 0.02)))
    shaken = compare(values(*before), values(*(before + sways)))

    assert gained is not None
    assert gained.p_value < 0.001
    assert shaken is not None
    assert shaken.p_value > 0.9
    assert (shaken.better, shaken.worse) == (100, 100)


def test_many_queries_agree_with_the_normal_approximation() -> None:
    chance = np.random.default_rng(11)
    before = chance.random(150)
    gains = chance.normal(0.01, 0.1, 150)
    # Of 150 random signs the sum is all but normally distributed around 0.
    expected = erfc(abs(gains.sum()) / sqrt(2 * (gains**2).sum()))

    result = compare(values(*before), values(*(before + gains)))

    assert result is not None
    assert 0.05 < expected < 0.95
    assert result.p_value == pytest.approx(expected, abs=0.02)


def test_only_queries_of_both_runs_count() -> None:
    result = compare({"a": 0.0, "b": 0.5}, {"b": 0.75, "c": 1.0})

    assert result is not None
    assert (result.queries, result.difference) == (1, 0.25)
    assert compare({"a": 0.0}, {"b": 1.0}) is None


def test_the_same_runs_give_the_same_p_value() -> None:
    chance = np.random.default_rng(3)
    before, after = values(*chance.random(50)), values(*chance.random(50))

    assert compare(before, after) == compare(before, after)
