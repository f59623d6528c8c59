"""Names that can be taken for other names."""

from __future__ import annotations

import pytest

from tools.upstreams.lookalikes import KnownNames, scripts, skeleton

KNOWN = KnownNames({"create_todo": "todo", "search_documents": "docs", "add": "sums"})


@pytest.mark.parametrize(
    "name",
    [
        "cre\u0430te_todo",  # Cyrillic a
        "creat\u0435_t\u043ed\u043e",  # Cyrillic e and o
        "cr\u212fate_todo",  # script small e
        "create\u200b_todo",
        "create-todo",
        "createTodo",
        "create_t0do",
        "ｃｒｅａｔｅ_ｔｏｄｏ",
        "cr\u00e9ate_todo",
    ],
)
def test_a_name_that_looks_the_same_is_found(name: str) -> None:
    assert KNOWN.same_to_the_eye(name) == "create_todo"
    assert KNOWN.owner("create_todo") == "todo"


@pytest.mark.parametrize(
    ("one", "other"), [("turn", "tum"), ("list_all", "Iist_aII"), ("a1", "al")]
)
def test_letters_that_cannot_be_told_apart_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


def test_a_name_does_not_look_like_itself() -> None:
    assert KNOWN.same_to_the_eye("create_todo") == ""
    assert KNOWN.one_letter_away("create_todo") == ""


@pytest.mark.parametrize(
    "name", ["serch_documents", "saerch_documents", "searchh_documents", "seatch_documents"]
)
def test_a_slip_of_the_pen_is_found(name: str) -> None:
    assert KNOWN.one_letter_away(name) == "search_documents"


@pytest.mark.parametrize(
    "name",
    [
        "search_document",  # the singular is meant to be another
        "list_documents",
        "ad",  # too short to say anything
        "edd",
        "search_documents_all",
    ],
)
def test_names_that_are_meant_to_be_different_are_left_alone(name: str) -> None:
    assert KNOWN.one_letter_away(name) == ""


def test_names_that_differ_in_a_number_are_left_alone() -> None:
    assert KnownNames({"get_report_1": "x"}).one_letter_away("get_report_2") == ""


def test_scripts_of_the_letters_are_told() -> None:
    assert scripts("create_todo_1") == {"LATIN"}
    assert scripts("cre\u0430te") == {"LATIN", "CYRILLIC"}
    assert scripts("123_") == set()
