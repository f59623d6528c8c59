"""What a tool may be: every rule at its edge, in the model and in the database."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import make_tool, tool_values
from tests.tools.models.refusals import database_refuses, database_refuses_change, model_refuses
from tools.models import Tool

pytestmark = pytest.mark.django_db

OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


def test_tool_has_the_fields_agents_and_operators_rely_on() -> None:
    # S0-001 S0-017 S2-018 S3-020 S4-001
    names = {field.name for field in Tool._meta.get_fields()}
    assert names >= {
        "name", "description", "input_schema", "handler", "remote_name", "enabled",
        "requires_context_management", "tags", "metadata",
    }  # fmt: skip
    tool = make_tool(tags=["search"], metadata={"version": "1.0", "author": "team"})
    kept = Tool.objects.get(pk=tool.pk)
    assert (kept.tags, kept.metadata) == (["search"], {"version": "1.0", "author": "team"})


@pytest.mark.parametrize(
    "name",
    [
        "1x",
        "a b",
        "a-b",
        "a.b",
        "é",
        "naïve",
        "x１",
        "",
        "abc\n",
        "\nabc",
        "abc ",
        "x" * 65,
        "a\0b",
    ],
)
def test_name_that_is_no_ascii_identifier_is_refused(name: str) -> None:
    # S3-021 C01
    row = Tool(**tool_values(name=name))
    assert model_refuses(row, "name")
    if "\0" not in name:
        database_refuses(row)


@pytest.mark.parametrize("name", ["class", "None", "async"])
def test_name_that_is_a_keyword_is_refused(name: str) -> None:
    # S3-021 C01
    row = Tool(**tool_values(name=name))
    assert model_refuses(row, "name") == [f"{name} is a Python keyword."]
    database_refuses(row, "tool_name_is_identifier")


@pytest.mark.parametrize("name", ["x", "_", "X1", "create_todo", "x" * 64, "print", "match"])
def test_identifier_up_to_64_characters_is_a_name(name: str) -> None:
    # S3-021 C01
    assert make_tool(name=name).name == name


def test_name_is_unique_over_all_sources_and_case_counts() -> None:
    # S0-002 S0-004 S2-019 S3-022 C01
    make_tool(name="echo", source="upstream")
    second = Tool(**tool_values(name="echo", source="http_api"))
    assert model_refuses(second, "name") == ["Tool with this Name already exists."]
    database_refuses(second)
    assert make_tool(name="Echo").name == "Echo"


@pytest.mark.parametrize(
    "name", ["basic", "rag_", "RAG_basic", "Rag_basic", "ragxbasic", "xrag_basic"]
)
def test_name_without_the_required_prefix_is_refused(name: str) -> None:
    # S0-003 S4-002 C01
    row = Tool(**tool_values(name=name, required_prefix="rag_"))
    assert model_refuses(row, "name") == ["Must be rag_ and at least one more character."]
    database_refuses(row, "tool_name_has_prefix")


@pytest.mark.parametrize(
    ("prefix", "name"), [("rag_", "rag_basic"), ("nsip_", "nsip_x"), ("", "rag_")]
)
def test_prefix_and_one_more_character_is_a_name(prefix: str, name: str) -> None:
    # S0-003 S4-002 C01
    assert make_tool(name=name, required_prefix=prefix).name == name


@pytest.mark.parametrize("description", ["", "   \n  ", "123456789", "  12345678  ", "123456789\n"])
def test_description_under_ten_characters_is_refused(description: str) -> None:
    # S0-005 S3-023 S4-003 C02
    row = Tool(**tool_values(description=description))
    assert model_refuses(row, "description")
    database_refuses(row, "tool_description_long_enough")


@pytest.mark.parametrize(
    "description", ["1234567890", "a\n\n\n\n\n\n\n\nb", "日本語の説明文です。。"]
)
def test_description_of_ten_characters_is_kept_verbatim(description: str) -> None:
    # S0-005 S4-003 C02
    assert Tool.objects.get(pk=make_tool(description=description).pk).description == description


@pytest.mark.parametrize("field", ["description", "title"])
def test_text_that_no_database_keeps_is_refused(field: str) -> None:
    row = Tool(**tool_values(**{field: "long enough\0but broken"}))
    assert model_refuses(row, "description") == ["Texts cannot hold NUL characters."]


def test_discovered_tool_may_have_a_short_description_but_not_none() -> None:
    # C02
    assert make_tool(source="upstream", description="x").description == "x"
    row = Tool(**tool_values(source="upstream", description=" "))
    assert model_refuses(row, "description")
    database_refuses(row, "tool_description_long_enough")


@pytest.mark.parametrize(
    "schema",
    [
        {},
        None,
        [],
        "object",
        {"type": "nope"},
        {"type": "array", "items": {}},
        {"type": "object"},
        {"properties": {}},
        {"type": ["object"], "properties": {}},
    ],
)
def test_arguments_schema_that_is_no_object_with_properties_is_refused(schema: Any) -> None:
    # S0-007 S0-008 S2-020 S3-025 S3-026 C03
    row = Tool(**tool_values(input_schema=schema))
    assert model_refuses(row, "input_schema")
    database_refuses(row)


@pytest.mark.parametrize(
    "schema",
    [
        {**OBJECT, "properties": []},
        {**OBJECT, "properties": {"a": {"type": "nope"}}},
        {**OBJECT, "properties": {"a": {"minimum": "low"}}},
        {**OBJECT, "required": "a"},
        {**OBJECT, "required": [1]},
        {**OBJECT, "properties": {"a": {"$ref": "http://127.0.0.1:1/schema.json"}}},
        {**OBJECT, "properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {**OBJECT, "properties": {"a": {"$ref": "#/definitions/missing"}}},
        {**OBJECT, "properties": {"a": {"pattern": "("}}},
        {**OBJECT, "properties": {"a": {"type": "integer", "minimum": 1, "default": 0}}},
        {**OBJECT, "properties": {"a": {"const": float("nan")}}},
        {**OBJECT, "properties": {"a": {"description": "a\0b"}}},
    ],
)
def test_schema_that_is_not_usable_json_schema_is_refused(schema: Any) -> None:
    # S0-008 S2-020 S3-024 S3-027 S3-028 S4-004 C03
    assert model_refuses(Tool(**tool_values(input_schema=schema)), "input_schema")
    assert not Tool.objects.exists()


def test_reference_schema_is_accepted_and_its_limits_are_kept() -> None:
    # S0-007 S3-020 S3-024 S3-027 S3-028 S4-007
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1},
            "max_depth": {"type": "integer", "default": 3, "minimum": 1, "maximum": 10},
        },
        "required": ["query"],
    }
    tool = make_tool(input_schema=schema)
    assert tool.validate_parameters({"query": "x"}) == []
    assert tool.validate_parameters({"query": "x", "max_depth": 10}) == []
    too_deep = tool.validate_parameters({"query": "x", "max_depth": 11})
    assert [(fault.parameter, fault.expected) for fault in too_deep] == [
        ("max_depth", "a number of at most 10")
    ]
    assert [fault.parameter for fault in tool.validate_parameters({})] == ["query"]
    assert tool.validate_parameters(["query"])


def test_modern_dialect_is_accepted_when_the_schema_names_it() -> None:
    # C03
    schema = {
        **OBJECT,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"pair": {"type": "array", "prefixItems": [{"type": "string"}]}},
    }
    assert make_tool(input_schema=schema).input_schema == schema


def test_required_flags_inside_arguments_move_to_the_array() -> None:
    # S4-008 T06
    schema = {
        "type": "object",
        "properties": {
            "lpn_id": {"type": "string", "required": True},
            "page": {"type": "integer", "required": False},
        },
    }
    tool = make_tool(name="nsip_get_animal", required_prefix="nsip_", input_schema=schema)
    assert tool.to_mcp_schema() == {
        "name": "nsip_get_animal",
        "description": tool.description,
        "inputSchema": {
            "type": "object",
            "properties": {"lpn_id": {"type": "string"}, "page": {"type": "integer"}},
            "required": ["lpn_id"],
        },
    }
    assert Tool.objects.get(pk=tool.pk).input_schema["required"] == ["lpn_id"]


def test_mcp_schema_always_has_a_required_array() -> None:
    # S4-008
    assert make_tool().to_mcp_schema()["inputSchema"] == {**OBJECT, "required": []}


@pytest.mark.parametrize("schema", [[], {"type": "array"}, {"type": "object", "properties": 5}])
def test_result_schema_must_describe_an_object(schema: Any) -> None:
    row = Tool(**tool_values(output_schema=schema))
    assert model_refuses(row, "output_schema")
    if schema != {"type": "object", "properties": 5}:
        database_refuses(row, "tool_output_schema_is_object")
    assert make_tool(output_schema={"type": "object"}).output_schema == {"type": "object"}


@pytest.mark.parametrize(
    ("field", "bad", "good"),
    [
        ("timeout_seconds", 0, 1),
        ("timeout_seconds", 61, 60),
        ("max_concurrent", 0, 1),
        ("max_concurrent", 1001, 1000),
        ("queue_timeout_seconds", 61, 60),
        ("cache_ttl_seconds", 0, 1),
        ("cache_ttl_seconds", 30 * 24 * 3600 + 1, 30 * 24 * 3600),
        ("token_budget", 99, 100),
        ("token_budget", 1_000_001, 1_000_000),
        ("source", "cloud", "pipeline"),
        ("handler", "", "echo"),
    ],
)
def test_limits_hold_at_their_edges(field: str, bad: Any, good: Any) -> None:
    assert model_refuses(Tool(**tool_values(**{field: bad})), field)
    tool = make_tool(**{field: good})
    database_refuses_change(tool, **{field: bad})
    assert getattr(Tool.objects.get(pk=tool.pk), field) == good


def test_read_only_tool_cannot_be_destructive() -> None:
    row = Tool(**tool_values(read_only=True, destructive=True))
    assert model_refuses(row, "destructive")
    database_refuses(row, "tool_read_only_not_destructive")


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("tags", {"a": 1}),
        ("tags", [1]),
        ("preserve_keys", "id"),
        ("metadata", ["a"]),
        ("metadata", {"a": float("inf")}),
    ],
)
def test_json_fields_have_their_shape(field: str, bad: Any) -> None:
    # S2-018
    assert model_refuses(Tool(**tool_values(**{field: bad})), field)


def test_problems_of_a_bad_row_are_told_without_the_database(
    django_assert_num_queries: Any,
) -> None:
    sound, bad = make_tool(), Tool(**tool_values(name="a-b", description="short", input_schema=5))
    with django_assert_num_queries(0):
        assert sound.problems() == []
        assert [problem.split(":")[0] for problem in bad.problems()] == [
            "name",
            "description",
            "input_schema",
        ]


def test_context_management_is_off_unless_asked_for() -> None:
    # S4-006
    assert make_tool().requires_context_management is False
    assert make_tool(requires_context_management=True).requires_context_management is True


def test_database_refuses_a_bad_bulk_change_of_a_sound_tool() -> None:
    # S3-021 S3-025
    tool = make_tool()
    database_refuses_change(tool, name="a-b")
    database_refuses_change(tool, input_schema={"type": "array"})
    database_refuses_change(tool, description="short")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"n": {"type": "number", "x-mcp-header": "Count"}}},
        {"type": "object", "properties": {"n": {"type": "string", "x-mcp-header": "two words"}}},
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "x-mcp-header": "Region"},
                "b": {"type": "string", "x-mcp-header": "region"},
            },
        },
    ],
)
def test_a_header_that_would_make_clients_drop_the_tool_is_refused(schema: dict[str, Any]) -> None:
    assert model_refuses(Tool(**tool_values(input_schema=schema)), "input_schema")


def test_an_argument_may_be_announced_in_a_header() -> None:
    schema = {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "Region"}}}
    assert make_tool(input_schema=schema).problems() == []
