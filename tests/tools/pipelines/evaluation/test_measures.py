from math import log2

import pytest

from tools.pipelines.evaluation.measures import MEASURES, measure, ndcg, recall, reciprocal_rank


def test_graded_judgements_by_hand() -> None:
    grades = {"a": 3, "b": 1, "c": 0, "d": 2}
    gained = 1 / log2(2) + 0 / log2(3) + 3 / log2(4)
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)

    assert ndcg(["b", "c", "a", "x"], grades, 10) == pytest.approx(gained / ideal)


def test_the_best_order_has_1_and_its_reverse_less() -> None:
    grades = {"a": 3, "b": 2, "c": 1}

    assert ndcg(["a", "b", "c"], grades, 10) == pytest.approx(1)
    assert ndcg(["c", "b", "a"], grades, 10) == pytest.approx(
        (1 + 2 / log2(3) + 3 / 2) / (3 + 2 / log2(3) + 1 / 2)
    )


def test_what_is_behind_the_depth_does_not_count() -> None:
    ranking = [f"x{number}" for number in range(10)] + ["a"]

    assert ndcg(ranking, {"a": 1}, 10) == 0
    assert recall(ranking, {"a": 1}, 10) == 0
    assert recall(ranking, {"a": 1}, 11) == 1
    assert reciprocal_rank(ranking, {"a": 1}, 10) == 0
    assert reciprocal_rank(ranking, {"a": 1}, 11) == pytest.approx(1 / 11)


def test_the_ideal_is_cut_at_the_depth_too() -> None:
    grades = {f"d{number}": 1 for number in range(30)}

    assert ndcg([f"d{number}" for number in range(10)], grades, 10) == pytest.approx(1)
    assert recall([f"d{number}" for number in range(10)], grades, 10) == pytest.approx(10 / 30)


def test_recall_counts_relevant_documents_alone() -> None:
    grades = {"a": 1, "b": 2, "c": 0, "d": -1}

    assert recall(["c", "a", "d"], grades, 5) == 0.5


def test_reciprocal_rank_is_of_the_first_relevant_one() -> None:
    assert reciprocal_rank(["x", "c", "b", "a"], {"a": 1, "b": 1, "c": 0}, 10) == pytest.approx(
        1 / 3
    )


def test_grades_below_zero_are_worth_as_little_as_none() -> None:
    assert ndcg(["bad", "a"], {"a": 1, "bad": -2}, 10) == pytest.approx(1 / log2(3))


@pytest.mark.parametrize("grades", [{}, {"a": 0}])
def test_nothing_to_find_is_0_and_no_error(grades: dict[str, int]) -> None:
    assert measure(["a", "b"], grades) == dict.fromkeys(MEASURES, 0.0)


def test_an_empty_ranking_is_0() -> None:
    assert measure([], {"a": 1}) == dict.fromkeys(MEASURES, 0.0)


def test_a_perfect_ranking_is_1_in_everything() -> None:
    assert measure(["a", "b"], {"a": 2, "b": 1}) == dict.fromkeys(MEASURES, pytest.approx(1.0))
