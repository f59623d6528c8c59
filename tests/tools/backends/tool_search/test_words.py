"""Finding tools by words alone."""

from __future__ import annotations

import pytest

from tests.tools.backends.tool_search.shelf import shelf_tool
from tools.backends.tool_search.texts import stem, stems, tool_text
from tools.backends.tool_search.words import WordIndex
from tools.contracts import ToolSource, ToolSpec


def marks(query: str, *specs: ToolSpec) -> dict[str, float]:
    """What each tool gets."""
    texts = [tool_text(spec) for spec in specs]
    return dict(zip([spec.name for spec in specs], WordIndex(texts).marks(query), strict=True))


def best(query: str, *specs: ToolSpec) -> str:
    found = marks(query, *specs)
    return max(found, key=found.__getitem__)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ticket", "tickets"),
        ("create", "creating"),
        ("created", "creates"),
        ("plan", "planning"),
        ("translation", "translate"),
        ("queries", "query"),
        ("boxes", "box"),
        ("merge", "merged"),
        ("Café", "cafe"),
        ("getUserName", "get_user_names"),
    ],
)
def test_forms_of_a_word_are_one_word(one: str, other: str) -> None:
    assert stems(one) == stems(other)


@pytest.mark.parametrize("word", ["sing", "bed", "status", "analysis", "class", "das", "ещё", "s3"])
def test_words_that_only_look_inflected_stay(word: str) -> None:
    assert stem(word) == word


def test_words_without_meaning_are_left_out() -> None:
    assert stems("I would like to have the weather for my town, please") == [
        "like",
        "weather",
        "town",
    ]


def test_a_word_in_the_name_counts_more_than_one_in_the_description() -> None:
    named = shelf_tool("refund_order", "Gives money back to a buyer.")
    told = shelf_tool("money_mover", "Moves sums; a refund is one kind of it.")
    assert best("refund", told, named) == "refund_order"


def test_rare_words_count_more_than_common_ones() -> None:
    specs = [shelf_tool(f"list_{word}", f"Lists {word}.") for word in ("cats", "dogs", "goats")]
    found = marks("list goats", *specs)
    assert found["list_goats"] > 2 * found["list_cats"]


def test_parameters_their_texts_and_choices_are_found() -> None:
    nested = ToolSpec(
        name="book",
        description="Books a journey.",
        source=ToolSource.HTTP_API,
        handler="echo",
        input_schema={
            "type": "object",
            "properties": {
                "trip": {
                    "type": "object",
                    "properties": {"luggage": {"description": "Pieces of baggage to check in."}},
                },
                "stops": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"platform": True}},
                },
                "cabin": {"enum": ["economy", "business", 3]},
            },
        },
    )
    other = shelf_tool("other", "Something else altogether.")
    for query in ("luggage", "baggage", "platform", "economy"):
        found = marks(query, nested, other)
        assert found["book"] > 0, query
        assert found["other"] == 0, query


def test_misspelt_words_are_guessed_and_count_less() -> None:
    tool = shelf_tool("transcribe_audio", "Turns speech into text.")
    right, wrong = marks("transcribe", tool), marks("trasncribe", tool)
    assert 0 < wrong["transcribe_audio"] < right["transcribe_audio"]


def test_words_no_tool_has_match_nothing() -> None:
    assert marks("zebra crossing", shelf_tool("add", "Adds numbers.")) == {"add": 0.0}
    assert marks("the of and", shelf_tool("add", "Adds numbers.")) == {"add": 0.0}
    assert marks("?!", shelf_tool("add", "Adds numbers.")) == {"add": 0.0}


def test_marks_stay_between_zero_and_one() -> None:
    tool = shelf_tool("add_add_add", "add " * 500)
    assert 0 < marks("add add add", tool)["add_add_add"] < 1


def test_nothing_to_search_gives_no_marks() -> None:
    assert WordIndex([]).marks("anything") == []


def test_odd_schemas_do_not_stop_the_search() -> None:
    schemas: list[dict[str, object]] = [
        {},
        {"properties": []},
        {"properties": {"a": True, "b": {"enum": "no list", "description": 7, "items": [1]}}},
    ]
    for schema in schemas:
        spec = ToolSpec("odd", "An odd tool.", schema, ToolSource.UPSTREAM, "x", tags=("one",))
        assert tool_text(spec).terms["odd"] > 0
