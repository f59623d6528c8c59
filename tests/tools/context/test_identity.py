"""Fields that say what a thing is."""

from __future__ import annotations

from typing import Any

import pytest

from tools.context.identity import LONGEST, rank


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        *[
            (key, 0)
            for key in ("id", "ID", "user_id", "userId", "UUID", "lpnId", "LpnId", "order-id")
        ],
        *[(key, 1) for key in ("name", "farmName", "full_name", "title", "slug", "recordCount")],
        *[
            (key, 2)
            for key in ("status", "url", "html_url", "zip_code", "dateOfBirth", "created_at")
        ],
        *[
            (key, 3)
            for key in ("notes", "width", "idea", "valid", "renamed", "at", "", "__", "идея")
        ],
    ],
)
def test_keys_are_ranked_by_the_words_in_them(key: str, expected: int) -> None:
    assert rank(key, "x") == expected


@pytest.mark.parametrize("value", [{}, [], [1], {"id": 1}])
def test_objects_and_lists_identify_nothing(value: Any) -> None:
    assert rank("id", value) == 3


def test_long_texts_and_keys_that_are_no_texts_are_ordinary() -> None:
    assert rank("name", "x" * LONGEST) == 1
    assert rank("name", "x" * (LONGEST + 1)) == 3
    assert rank(7, "x") == 3
    assert rank("id", None) == 0
