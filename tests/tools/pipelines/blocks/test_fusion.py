from typing import Any

import numpy as np
import pytest

from tools.pipelines.blocks.fusion import best, convex, reciprocal_ranks
from tools.pipelines.contracts import Found


def found(**scores: float) -> Found:
    """Rows r0, r1, ... with their scores, in the order given."""
    rows = [int(name[1:]) for name in scores]
    return Found(np.array(rows, np.int64), np.array(list(scores.values()), np.float32))


def as_dict(result: Found) -> dict[int, Any]:
    return {
        int(row): pytest.approx(float(score), abs=1e-6)
        for row, score in zip(result.rows, result.scores, strict=True)
    }


def test_convex_adds_shares_of_stretched_scores() -> None:
    dense, words = found(r1=0.9, r2=0.8, r3=0.7), found(r3=12.0, r4=6.0, r2=4.0)

    result = convex([(dense, 0.7), (words, 0.3)], 10)

    # r1: .7 * 1; r2: .7 * .5 + .3 * 0; r3: 0 + .3 * 1; r4: .3 * .25
    assert as_dict(result) == {1: 0.7, 2: 0.35, 3: 0.3, 4: 0.075}
    assert list(result.rows) == [1, 2, 3, 4]


def test_a_part_that_found_nothing_leaves_its_share_to_the_other() -> None:
    result = convex([(found(r5=0.9, r6=0.1), 0.7), (Found.nothing(), 0.3)], 10)

    assert as_dict(result) == {5: 1.0, 6: 0.0}


def test_nothing_from_nothing() -> None:
    assert len(convex([(Found.nothing(), 1.0)], 10)) == 0
    assert len(reciprocal_ranks([], 10)) == 0


def test_a_single_passage_has_the_full_score() -> None:
    assert as_dict(convex([(found(r9=0.2), 0.7)], 10)) == {9: 1.0}


def test_reciprocal_ranks_look_at_ranks_alone() -> None:
    result = reciprocal_ranks([found(r1=100.0, r2=1.0), found(r2=0.3, r3=0.2)], 10, k=60)

    assert as_dict(result) == {2: 1 / 62 + 1 / 61, 1: 1 / 61, 3: 1 / 62}
    assert list(result.rows) == [2, 1, 3]


def test_of_equal_scores_the_lower_row_comes_first() -> None:
    rows, scores = np.arange(9, -1, -1), np.ones(10, np.float32)

    assert list(best(rows, scores, 3).rows) == [0, 1, 2]
    assert list(best(rows, scores, 99).rows) == list(range(10))
