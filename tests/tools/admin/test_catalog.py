"""Tools and toolsets in the admin."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from tests.factories import make_client, make_tool, make_toolset, tool_values
from tests.tools.admin.pages import act, address, submit, text, untouched
from tools.backends.builtin import BUILTINS
from tools.models import CatalogState, Tool, Toolset

pytestmark = pytest.mark.django_db

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def new_tool(**overrides: Any) -> dict[str, Any]:
    return {
        "name": "search_notes",
        "description": "Searches the notes; use it for questions about meetings.",
        "input_schema": json.dumps(SCHEMA),
        "source": "http_api",
        "handler": "notes",
        **overrides,
    }


def test_tool_is_added_through_the_form(admin_client: Client) -> None:
    # S0-001 S3-020
    response = submit(admin_client, address(Tool, "add"), **new_tool(tags='["notes"]'))
    assert "was added successfully" in text(response)
    tool = Tool.objects.get()
    assert (tool.name, tool.input_schema, tool.tags, tool.metadata) == (
        "search_notes",
        SCHEMA,
        ["notes"],
        {},
    )


def test_form_for_a_new_tool_starts_with_an_empty_object_schema(admin_client: Client) -> None:
    shown = untouched(admin_client, address(Tool, "add"))
    assert json.loads(shown["input_schema"]) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (
            "input_schema",
            '{"type": "object",\n "properties": }',
            "Not valid JSON at line 2, column 16",
        ),
        ("input_schema", "[" * 100_000, "Nested too deeply"),
        (
            "input_schema",
            '{"type": "array"}',
            "The root must have &quot;type&quot;: &quot;object&quot;",
        ),
        ("input_schema", '{"type": "object"}', "The root must have &quot;properties&quot;"),
        ("input_schema", "", "This field is required"),
        (
            "input_schema",
            '{"type": "object", "properties": {"a": {"type": "nope"}}}',
            "Not a usable JSON Schema",
        ),
        (
            "input_schema",
            '{"type": "object", "properties": {"a": {"default": NaN}}}',
            "finite number",
        ),
        ("output_schema", '{"type": "array"}', "The root must have"),
        ("name", "a-b", "Use letters, digits and underscores only"),
        ("name", "class", "class is a Python keyword"),
        ("description", "too short", "Write at least 10 characters"),
        ("required_prefix", "rag_", "Must be rag_ and at least one more character"),
        ("timeout_seconds", "61", "less than or equal to 60"),
        ("tags", '{"a": 1}', "Must be a list of texts"),
    ],
)
def test_wrong_value_is_told_beside_its_field_and_nothing_is_saved(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    # S0-008 S3-021 S3-025 S3-026 S4-003
    response = submit(admin_client, address(Tool, "add"), **new_tool(**{field: value}))
    assert response.status_code == 200
    assert told in text(response)
    assert not Tool.objects.exists()


def test_wrong_json_comes_back_as_it_was_typed(admin_client: Client) -> None:
    typed = '{"type":   "object",,}'
    response = submit(admin_client, address(Tool, "add"), **new_tool(input_schema=typed))
    assert typed.replace('"', "&quot;") in text(response)


def test_taken_name_is_told(admin_client: Client) -> None:
    # S0-002 S2-019
    make_tool(name="search_notes")
    response = submit(admin_client, address(Tool, "add"), **new_tool())
    assert "Tool with this Name already exists" in text(response)


def test_builtin_must_name_a_function_that_exists(admin_client: Client) -> None:
    # S4-005
    url = address(Tool, "add")
    response = submit(admin_client, url, **new_tool(source="builtin", handler="nothing"))
    assert f"is not a built-in; choose one of {', '.join(sorted(BUILTINS))}" in text(response)
    submit(admin_client, url, **new_tool(source="builtin", handler="server_metrics"))
    assert Tool.objects.get().handler == "server_metrics"


def test_saving_an_untouched_form_changes_nothing(admin_client: Client) -> None:
    tool = make_tool(
        input_schema=SCHEMA,
        output_schema={"type": "object"},
        tags=["ü", "b"],
        metadata={"version": "1.0"},
        cache_ttl_seconds=60,
        read_only=True,
    )
    before = dict(Tool.objects.values().get())
    assert "was changed successfully" in text(
        submit(admin_client, address(Tool, "change", tool.pk))
    )
    after = dict(Tool.objects.values().get())
    assert after.pop("updated_at") > before.pop("updated_at")
    assert after == before


def test_emptied_json_boxes_mean_empty_values(admin_client: Client) -> None:
    tool = make_tool(
        tags=["a"], metadata={"a": 1}, output_schema={"type": "object"}, preserve_keys=["id"]
    )
    url = address(Tool, "change", tool.pk)
    submit(admin_client, url, tags="", metadata="", output_schema="", preserve_keys="")
    tool.refresh_from_db()
    assert (tool.tags, tool.metadata, tool.output_schema, tool.preserve_keys) == ([], {}, None, [])


def test_json_is_shown_indented(admin_client: Client) -> None:
    tool = make_tool(input_schema=SCHEMA)
    shown = untouched(admin_client, address(Tool, "change", tool.pk))["input_schema"]
    # The database may keep the keys in an order of its own.
    assert shown.strip() == json.dumps(json.loads(shown), indent=2)
    assert json.loads(shown) == SCHEMA


def test_bad_row_is_flagged_in_the_list_and_on_its_page(admin_client: Client) -> None:
    make_tool(name="sound")
    Tool.objects.bulk_create([Tool(**tool_values(name="bent", tags={"no": "list"}))])
    listed = text(admin_client.get(address(Tool, "changelist")))
    assert listed.count("tags: Must be a list of texts") == 1
    page = text(admin_client.get(address(Tool, "change", Tool.objects.get(name="bent").pk)))
    assert "tags: Must be a list of texts" in page
    assert "unavailable" in page


def test_status_is_shown_and_cannot_be_edited(admin_client: Client) -> None:
    # S0-014
    tool = make_tool()
    url = address(Tool, "change", tool.pk)
    assert "healthy" in text(admin_client.get(url))
    assert "status" not in untouched(admin_client, url)
    Tool.objects.update(enabled=False)
    assert re.search(r">\s*off\s*</span>", text(admin_client.get(url)))
    Tool.objects.update(enabled=True, source="upstream")
    assert "unavailable" in text(admin_client.get(url))


@pytest.mark.parametrize(
    ("action", "before", "after"), [("enable", False, True), ("disable", True, False)]
)
def test_bulk_switch_changes_the_selected_tools_and_announces_it(
    admin_client: Client, action: str, before: bool, after: bool
) -> None:
    tools = [make_tool(enabled=before) for _ in range(3)]
    version = CatalogState.objects.get().version
    response = act(admin_client, Tool, action, *tools[:2])
    assert f"2 tools {action}d." in text(response)
    assert [Tool.objects.get(pk=tool.pk).enabled for tool in tools] == [after, after, before]
    assert CatalogState.objects.get().version > version


def test_deleting_tools_in_bulk_announces_it(admin_client: Client) -> None:
    tools = [make_tool(), make_tool()]
    version = CatalogState.objects.get().version
    act(admin_client, Tool, "delete_selected", *tools)
    assert not Tool.objects.exists()
    assert CatalogState.objects.get().version > version


def test_list_is_searched_and_filtered(admin_client: Client) -> None:
    make_tool(name="alpha")
    make_tool(name="beta", enabled=False)
    url = address(Tool, "changelist")
    assert "beta" not in text(admin_client.get(url, {"q": "alph"}))
    assert "alpha" not in text(admin_client.get(url, {"enabled__exact": 0}))
    assert "alpha" in text(admin_client.get(url, {"source__exact": "http_api"}))


def test_long_running_tools_are_marked_and_filtered(admin_client: Client) -> None:
    submit(admin_client, address(Tool, "add"), **new_tool(long_running="on"))
    make_tool(name="quick")
    assert Tool.objects.get(name="search_notes").long_running
    listed = text(admin_client.get(address(Tool, "changelist"), {"long_running__exact": 1}))
    assert "search_notes" in listed
    assert "quick" not in listed


def test_list_costs_the_same_queries_for_any_number_of_tools(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(30):
        make_tool()
    # Three of them are for the statuses, whatever the sources.
    with django_assert_max_num_queries(14):
        admin_client.get(address(Tool, "changelist"))


def test_toolset_is_added_and_changed(admin_client: Client) -> None:
    tool = make_tool()
    submit(admin_client, address(Toolset, "add"), slug="notes", tools=[tool.pk])
    toolset = Toolset.objects.get()
    assert list(toolset.tools.all()) == [tool]
    submit(admin_client, address(Toolset, "change", toolset.pk), includes_all="on")
    toolset.refresh_from_db()
    assert toolset.includes_all
    assert "Use lower-case letters" in text(
        submit(admin_client, address(Toolset, "add"), slug="A B")
    )


def test_toolset_list_says_what_it_holds_and_who_has_it(admin_client: Client) -> None:
    rag = make_toolset(slug="rag", tools=[make_tool(), make_tool()])
    for name in ("Chat agent", "Night shift", "Batch"):
        make_client(name=name, toolsets=[rag])
    make_toolset(slug="every", includes_all=True)
    with CaptureQueriesContext(connection) as made:
        listed = text(admin_client.get(address(Toolset, "changelist")))
    assert all(name in listed for name in ("Chat agent", "Night shift", "Batch"))
    assert ">2<" in listed
    assert ">all<" in listed
    # Tools are counted, not read; of clients there is but the name.
    asked = " ".join(one["sql"] for one in made.captured_queries)
    assert '"input_schema"' not in asked
    assert '"key_hash"' not in asked


def test_tools_are_offered_while_typing(admin_client: Client) -> None:
    make_tool(name="alpha")
    query = {"app_label": "tools", "model_name": "toolset", "field_name": "tools", "term": "alp"}
    found = admin_client.get("/admin/autocomplete/", query).json()["results"]
    assert [row["text"] for row in found] == ["alpha"]
