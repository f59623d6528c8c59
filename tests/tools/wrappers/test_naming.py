"""Names for files, classes, parameters and options."""

from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.wrappers.naming import (
    Names,
    camel_to_snake,
    class_name,
    identifier,
    kebab,
    snake_to_camel,
    upper_first,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("query_callers", "query_callers"),
        ("maxDepth", "maxDepth"),
        ("get-user", "get_user"),
        ("../../etc/passwd", "etc_passwd"),
        ("__init__", "init"),
        ("Grüße", "Gru_e"),
        ("1st", "x_1st"),
        ("漢字", "x"),
        ("", "x"),
        ("a" * 300, "a" * 80),
    ],
)
def test_a_name_is_kept_as_far_as_it_can_be_one(text: str, name: str) -> None:
    assert identifier(text, "x") == name


@given(st.text(max_size=200))
def test_whatever_the_text_names_are_safe(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,90}", identifier(text, "x"))
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kebab(text, "x"))
    assert re.fullmatch(r"[A-Z][A-Za-z0-9]{0,90}", class_name(text))


@given(st.lists(st.text(max_size=20), max_size=30))
def test_no_name_is_handed_out_twice(texts: list[str]) -> None:
    names = Names(keyword.kwlist)
    found = [names.free(identifier(text, "x"), f"{identifier(text, 'x')}_") for text in texts]
    assert len({name.casefold() for name in found}) == len(found)
    assert not set(found) & set(keyword.kwlist)


def test_many_who_want_one_name_are_told_apart_without_a_search_for_each() -> None:
    names = Names()
    found = [names.free("look", "look_") for _ in range(30_000)]
    assert found[:4] == ["look", "look_", "look_2", "look_3"]
    assert len(set(found)) == len(found)


def test_filters_of_the_origin_turn_names_around() -> None:
    assert snake_to_camel("query_callers") == "queryCallers"
    assert camel_to_snake("queryCallers") == "query_callers"
    assert upper_first("queryCallers") == "QueryCallers"
    assert kebab("maxDepth2_x", "x") == "max-depth2-x"
    assert class_name("code-graph-rag") == "CodeGraphRag"
    assert class_name("3d") == "Service3D"
