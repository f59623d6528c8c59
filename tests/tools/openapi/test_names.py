"""Names, titles and descriptions of tools."""

from __future__ import annotations

import keyword
from typing import Any

import pytest

from tests.tools.openapi.documents import document, imported, only


def named(operation_id: str | None, path: str = "/pets/{petId}/toys") -> str:
    node = {} if operation_id is None else {"operationId": operation_id}
    return only(document({path: {"get": node}})).name


@pytest.mark.parametrize(
    ("operation_id", "name"),
    [
        ("listPets", "list_pets"),
        ("pets/list-all", "pets_list_all"),
        ("HTMLPage", "html_page"),
        ("getV2Items", "get_v2_items"),
        ("café.find", "cafe_find"),
        ("__x__", "x"),
        ("3d", "_3d"),
        ("import", "import_"),
        ("検索", "get_pets_pet_id_toys"),
        ("", "get_pets_pet_id_toys"),
        (None, "get_pets_pet_id_toys"),
    ],
)
def test_names_come_from_the_operation_else_from_its_path(
    operation_id: str | None, name: str
) -> None:
    assert named(operation_id) == name


def test_names_start_with_the_prefix() -> None:
    stated = document({"/pets": {"get": {"operationId": "class"}}})
    assert only(stated, prefix="pet_").name == "pet_class"


@pytest.mark.parametrize("prefix", ["a b", "1a", "ä_", "x" * 33])
def test_prefixes_that_no_name_can_have_are_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        imported(document({}), prefix=prefix)


def paths(*operation_ids: str) -> dict[str, Any]:
    return {f"/p{n}": {"get": {"operationId": one}} for n, one in enumerate(operation_ids)}


def test_long_names_are_cut_to_64_characters_and_stay_unlike() -> None:
    stated = paths("a" * 100 + "One", "a" * 100 + "Two", "a" * 64)
    names = [one.name for one in imported(document(stated)).operations]
    assert len(set(names)) == 3
    assert [len(name) for name in names] == [64, 64, 64]
    assert names[2] == "a" * 64


def test_names_do_not_depend_on_the_order_of_the_document() -> None:
    stated = paths("listPets", "list_pets", "ListPets", "other", "b" * 90)
    one = {op.key: op.name for op in imported(document(stated)).operations}
    turned = document(dict(reversed(list(stated.items()))))
    assert {op.key: op.name for op in imported(turned).operations} == one
    assert len(set(one.values())) == 5
    assert one["GET /p3"] == "other"
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in one.values())


def test_a_name_that_looks_like_a_mark_is_not_taken_twice() -> None:
    first = {op.key: op.name for op in imported(document(paths("x", "x"))).operations}
    again = imported(document(paths("x", "x", first["GET /p0"]))).operations
    assert len({op.name for op in again}) == 3


@pytest.mark.parametrize(
    ("node", "description"),
    [
        (
            {"summary": "List pets", "description": "All of **them**."},
            "List pets\n\nAll of **them**.",
        ),
        ({"summary": "List pets.", "description": "List pets by kind."}, "List pets by kind."),
        ({"summary": "List every pet"}, "List every pet"),
        ({"summary": "Pets"}, "Pets (GET /pets)"),
        ({"summary": "Ten of all"}, "Ten of all"),
        ({}, "Sends GET /pets to the API."),
        ({"summary": 5, "description": ["x"]}, "Sends GET /pets to the API."),
    ],
)
def test_descriptions_are_those_of_the_api(node: Any, description: str) -> None:
    # F4-02, S4-003
    assert only(document({"/pets": {"get": node}})).description == description


def test_long_descriptions_end_with_a_sentence() -> None:
    text = "It finds pets by their kind. " * 60
    found = only(document({"/pets": {"get": {"description": text}}})).description
    assert len(found) <= 1000
    assert found.endswith("by their kind.")
    endless = only(document({"/pets": {"get": {"description": "word " * 400}}})).description
    assert endless.endswith("word…")
    assert len(endless) <= 1000


def test_titles_are_the_summary_else_the_words_of_the_name() -> None:
    assert (
        only(document({"/pets": {"get": {"summary": "List\nthe pets."}}})).title == "List the pets"
    )
    stated = document({"/pets": {"get": {"operationId": "listPets"}}})
    assert only(stated, prefix="zoo_").title == "List pets"
