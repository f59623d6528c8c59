"""The names under which upstream tools are known here."""

from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.upstreams.naming import LONGEST_NAME, exposed_name, in_naming_order, unique_name

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
remote_names = st.text(min_size=1, max_size=90) | st.sampled_from(
    ["class", "a-b", "a.b", "a_b", "1x", "None", "_", "__", "a" * 64, "a" * 65, "查询", "\ud800"]
)
slugs = st.from_regex(r"\A[a-z][a-z0-9-]{0,63}\Z")
prefixes = st.just("") | st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,31}\Z")


def is_valid(name: str) -> bool:
    return (
        bool(IDENTIFIER.match(name)) and not keyword.iskeyword(name) and len(name) <= LONGEST_NAME
    )


@pytest.mark.parametrize(
    ("remote", "exposed"),
    [
        ("create_todo", "create_todo"),
        ("CreateTodo", "CreateTodo"),
        ("a-b", "a_b"),
        ("a.b/c d", "a_b_c_d"),
        ("naïve", "na_ve"),
        ("1x", "_1x"),
        ("class", "class_"),
        ("None", "None_"),
        ("match", "match"),
        ("a" * 64, "a" * 64),
    ],
)
def test_names_keep_what_an_identifier_may_have(remote: str, exposed: str) -> None:
    # S1-025, S3-021, C01
    assert exposed_name(remote) == exposed


def test_a_name_without_a_single_ascii_letter_is_told_by_its_hash() -> None:
    # C01
    name = exposed_name("查询")
    assert re.fullmatch(r"tool_[0-9a-f]{8}", name)
    assert name != exposed_name("询查")
    assert exposed_name("查询", "docs_") == f"docs_{name}"


def test_a_long_name_is_cut_and_told_apart_by_its_hash() -> None:
    # C01
    one, other = exposed_name("a" * 65), exposed_name("a" * 66)
    assert len(one) == len(other) == LONGEST_NAME
    assert one != other
    assert one.startswith("a" * 55)


def test_the_prefix_is_put_in_front_where_it_is_missing() -> None:
    # C01
    assert exposed_name("create", "todo_") == "todo_create"
    assert exposed_name("todo_create", "todo_") == "todo_create"
    assert exposed_name("todo_", "todo_") == "todo_todo_"
    assert exposed_name("class", "todo_") == "todo_class"


def test_a_taken_name_gets_the_slug_of_its_server() -> None:
    # C01, C13
    assert unique_name("search", "my-docs", "", {"search"}) == "my_docs__search"
    assert unique_name("search", "docs", "x_", {"x_search"}) == "x_docs__search"
    third = unique_name("search", "docs", "", {"search", "docs__search"})
    assert re.fullmatch(r"docs__search_[0-9a-f]{8}", third)


def test_names_that_are_identifiers_already_are_given_first() -> None:
    assert in_naming_order(["b-1", "z", "b_1", "a.1"]) == ["b_1", "z", "a.1", "b-1"]


@given(st.lists(remote_names, max_size=12, unique=True), slugs, prefixes)
def test_names_are_always_valid_unique_and_the_same_again(
    remotes: list[str], slug: str, prefix: str
) -> None:
    # S1-025, S2-019, S3-021, C01
    def named() -> dict[str, str]:
        taken = {"search", exposed_name(remotes[0], prefix) if remotes else ""}
        names: dict[str, str] = {}
        for remote in in_naming_order(remotes):
            names[remote] = unique_name(remote, slug, prefix, taken)
            assert names[remote] not in taken
            taken.add(names[remote])
        return names

    names = named()
    assert len(set(names.values())) == len(remotes)
    assert all(is_valid(name) for name in names.values())
    assert all(name.startswith(prefix) and len(name) > len(prefix) for name in names.values())
    assert names == named()
