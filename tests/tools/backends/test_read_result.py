"""Paging through a kept result."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.backends.read_result import SCHEMA, read_result, resolve
from tools.context.omissions import pointer as written
from tools.contracts import Caller, CallerKind
from tools.errors import ExecutionFailed, InvalidArguments
from tools.schemas import compile_schema, fill_defaults, object_schema_faults

REQUEST_ID = "5f0c6f0e-8a3f-4c7a-9d2b-0d9b8f2f7c11"
CALLER = Caller(CallerKind.API_KEY, "key:alpha", "alpha", 100)
OTHER = Caller(CallerKind.API_KEY, "key:beta", "beta", 100)

DOCUMENT: dict[str, Any] = {
    "recordCount": 45,
    "records": [{"id": n} for n in range(45)],
    "notes": "0123456789" * 100,
    "empty": [],
    "missing": None,
    "exact": True,
    "a/b": {"c~d": [10, 20, 30]},
}


async def kept(request_id: str, owner: str) -> str | None:
    known = (request_id, owner) == (REQUEST_ID, CALLER.identifier)
    return json.dumps(DOCUMENT) if known else None


async def read(**arguments: Any) -> dict[str, Any]:
    """Call the tool as the path does: validated, with defaults filled in."""
    filled = fill_defaults(SCHEMA, {"request_id": REQUEST_ID, **arguments})
    assert compile_schema(SCHEMA).is_valid(filled)
    return await read_result(filled, CALLER, kept)


def test_its_schema_can_describe_a_tool() -> None:
    assert object_schema_faults(SCHEMA) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"request_id": "not-a-uuid"},
        {"request_id": REQUEST_ID + "\n"},
        {"request_id": REQUEST_ID, "page": 0},
        {"request_id": REQUEST_ID, "page_size": 201},
        {"request_id": REQUEST_ID, "page_size": 0},
        {"request_id": REQUEST_ID, "more": 1},
    ],
)
def test_its_schema_refuses_what_makes_no_sense(arguments: dict[str, Any]) -> None:
    assert not compile_schema(SCHEMA).is_valid(arguments)


async def test_a_list_is_given_page_by_page() -> None:
    first = await read(pointer="/records")
    last = await read(pointer="/records", page=3)

    assert first == {
        "request_id": REQUEST_ID,
        "pointer": "/records",
        "kind": "list",
        "items": DOCUMENT["records"][:20],
        "total": 45,
        "page": 1,
        "page_size": 20,
        "pages": 3,
    }
    assert last["items"] == DOCUMENT["records"][40:]


async def test_the_whole_result_is_an_object_paged_in_the_order_it_was_written() -> None:
    first = await read(page_size=3)
    second = await read(page_size=3, page=2)

    assert first["kind"] == "object"
    assert list(first["entries"]) == ["recordCount", "records", "notes"]
    assert second["entries"] == {"empty": [], "missing": None, "exact": True}
    assert (second["total"], second["pages"]) == (7, 3)


async def test_a_text_is_given_in_stretches_of_characters() -> None:
    page = await read(pointer="/notes", page=3, page_size=1)

    assert page["kind"] == "text"
    assert page["text"] == DOCUMENT["notes"][800:]
    assert (page["total"], page["page_size"], page["pages"]) == (1000, 400, 3)


@pytest.mark.parametrize(
    ("pointer", "kind", "value"),
    [
        ("/recordCount", "number", 45),
        ("/missing", "null", None),
        ("/exact", "boolean", True),
        ("/a~1b/c~0d/2", "number", 30),
    ],
)
async def test_single_values_come_whole(pointer: str, kind: str, value: Any) -> None:
    page = await read(pointer=pointer)

    assert (page["kind"], page["value"]) == (kind, value)


async def test_an_empty_list_has_one_empty_page() -> None:
    page = await read(pointer="/empty")

    assert (page["items"], page["total"], page["pages"]) == ([], 0, 1)


async def test_a_page_beyond_the_last_says_which_is_the_last() -> None:
    with pytest.raises(InvalidArguments) as raised:
        await read(pointer="/records", page=4)

    assert raised.value.details.parameter == "page"
    assert raised.value.details.expected == "a page from 1 to 3"


async def test_the_id_may_be_written_in_capitals() -> None:
    page = await read_result({"request_id": REQUEST_ID.upper()}, CALLER, kept)

    assert page["total"] == 7


async def test_a_stranger_and_an_expired_result_look_the_same() -> None:
    with pytest.raises(InvalidArguments) as of_a_stranger:
        await read_result({"request_id": REQUEST_ID}, OTHER, kept)
    gone = "0b4ea7a4-55a5-4a2d-8d43-1f3f0f5f0c22"
    with pytest.raises(InvalidArguments) as expired:
        await read_result({"request_id": gone}, CALLER, kept)

    assert of_a_stranger.value.message == expired.value.message
    assert of_a_stranger.value.details.suggestion == expired.value.details.suggestion
    assert "Call the tool again" in str(expired.value.details.suggestion)


async def test_a_process_that_keeps_nothing_has_no_result() -> None:
    with pytest.raises(InvalidArguments):
        await read_result({"request_id": REQUEST_ID}, CALLER, None)


async def test_a_pointer_into_nothing_names_the_nearest_parent_and_its_keys() -> None:
    with pytest.raises(InvalidArguments) as raised:
        await read(pointer="/a~1b/x/y")

    assert raised.value.details.parameter == "pointer"
    assert "/a~1b, an object with 1 keys" in str(raised.value.details.suggestion)
    assert raised.value.details.available == ("/a~1b/c~0d",)


@pytest.mark.parametrize(
    ("pointer", "nearest"),
    [
        ("records", "the whole result (the empty pointer), an object with 7 keys"),
        ("/records/45", "/records, a list of 45 items, numbered from 0"),
        ("/records/-", "/records, a list of 45 items"),
        ("/records/01", "/records, a list of 45 items"),
        ("/records/-1", "/records, a list of 45 items"),
        ("/records/*/id", "/records, a list of 45 items"),
        ("/records/²", "/records, a list of 45 items"),
        ("/empty/0", "/empty, an empty list"),
        ("/recordCount/x", "/recordCount, a single number"),
        ("/missing/x", "/missing, a single null"),
        ("/exact/x", "/exact, a single boolean"),
        ("/notes/0", "/notes, a single text"),
        ("/" + "x" * 500, "the whole result"),
    ],
)
async def test_faulty_pointers_say_where_one_can_go_from(pointer: str, nearest: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        await read(pointer=pointer)

    assert nearest in str(raised.value.details.suggestion)
    assert len(raised.value.message) < 200


async def test_a_huge_object_lists_only_its_first_keys_in_a_fault() -> None:
    document = {f"key{n}": n for n in range(1000)}

    with pytest.raises(InvalidArguments) as raised:
        resolve(document, "/none")

    assert raised.value.details.available is not None
    assert len(raised.value.details.available) == 20


async def test_a_result_nested_too_deeply_to_parse_is_refused() -> None:
    async def deep(request_id: str, owner: str) -> str:
        return "[" * 100_000 + "]" * 100_000

    with pytest.raises(ExecutionFailed):
        await read_result({"request_id": REQUEST_ID}, CALLER, deep)


documents = st.recursive(
    st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    found = [(path, value)]
    if isinstance(value, dict):
        found += [place for name in value for place in paths(value[name], (*path, name))]
    elif isinstance(value, list):
        found += [place for n, item in enumerate(value) for place in paths(item, (*path, n))]
    return found


@given(documents)
def test_every_place_is_reached_by_the_pointer_the_report_writes_for_it(document: Any) -> None:
    for path, value in paths(document):
        assert resolve(document, written(path)) is value
