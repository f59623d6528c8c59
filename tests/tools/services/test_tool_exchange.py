"""Tools in configuration documents: written, read back, refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import make_pipeline, make_tool, tool_values
from tools.conf import ConfigurationFault
from tools.models import ServiceConfiguration, Tool
from tools.services.apply_config import apply_config, read_document, to_yaml
from tools.services.tool_documents import values_of
from tools.services.tool_exchange import State, carry_out, export_tools, plan_tools

pytestmark = pytest.mark.django_db

SCHEMA = {
    "type": "object",
    "properties": {"ü\u2028": {"type": "string", "default": "no"}, "n": {"type": "number"}},
    "required": ["n"],
}
SERVICE = {"service": {"name": "todo", "port": 8000, "host": "127.0.0.1"}}


def entry(**changes: Any) -> dict[str, Any]:
    values = tool_values(name="echo", **changes)
    return {name: value for name, value in values.items() if value is not ...}


def reasons(*entries: Any, **more: Any) -> list[tuple[str, ...]]:
    plan = plan_tools({"tools": list(entries), **more})
    return [one.reasons for one in plan.tools]


def test_what_was_exported_is_read_back_the_same() -> None:
    make_tool(
        name="echo",
        title="Echo: «yes»\nno",
        input_schema=SCHEMA,
        output_schema={"type": "object"},
        enabled=False,
        cache_ttl_seconds=60,
        metadata={"version": 1.0, "a": [None, True, "1e3", "null"]},
        tags=["on", "1"],
    )
    before = values_of(Tool.objects.get())
    text = to_yaml(export_tools())
    assert [one.state for one in plan_tools(read_document(text)).tools] == [State.SAME]
    Tool.objects.all().delete()
    assert [one.state for one in carry_out(read_document(text)).tools] == [State.NEW]
    assert values_of(Tool.objects.get()) == before
    assert "keep_body" not in text


def test_a_changed_tool_is_told_field_by_field_and_what_is_left_out_is_default() -> None:
    make_tool(name="echo", handler="echo", timeout_seconds=7, description="Before, some words.")
    plan = plan_tools({"tools": [entry(description="Afterwards, some words.")]})
    (one,) = plan.tools
    assert (one.state, one.fields) == (State.CHANGED, ("description", "timeout_seconds"))
    told = {each.where: (each.old, each.new) for each in one.differences}
    assert told["timeout seconds"] == ("7", "30")
    assert Tool.objects.get().timeout_seconds == 7
    carry_out({"tools": [entry(description="Afterwards, some words.")]})
    assert Tool.objects.get().timeout_seconds == 30


def test_tools_that_come_with_something_else_are_only_named(redis_url: str) -> None:
    pipeline = make_pipeline()
    make_tool(name="echo")
    document = export_tools()
    assert [one["name"] for one in document["tools"]] == ["echo"]
    name = pipeline.tool.name
    assert document["owned_tools"] == [{"name": name, "belongs_to": f"pipeline {pipeline}"}]
    assert f"{name} (pipeline {pipeline})" in plan_tools(document).notes[0]
    (found,) = reasons(entry() | {"name": name})
    assert found == (f"belongs to the pipeline {pipeline}, and is changed there",)


def test_secrets_are_not_exported_and_come_back_where_they_were() -> None:
    key = "sk-0123456789abcdef0123"
    properties = {"token": {"type": "string", "default": "hunter2", "description": "A token."}}
    make_tool(
        name="echo",
        description=f"Use it with {key} for everything.",
        input_schema={"type": "object", "properties": properties},
        metadata={"api_key": "abc", "note": "plain"},
    )
    before = values_of(Tool.objects.get())
    document = export_tools()
    text = to_yaml(document)
    assert not [secret for secret in (key, "hunter2", "abc") if secret in text]
    assert "A token." in text
    # Here they are known; elsewhere somebody has to write them in.
    assert plan_tools(document).tools[0].state == State.SAME
    document["tools"][0]["timeout_seconds"] = 9
    carry_out(document)
    assert values_of(Tool.objects.get()) == before | {"timeout_seconds": 9}
    Tool.objects.all().delete()
    (found,) = reasons(*document["tools"])
    assert [one.split(" holds ")[0] for one in found] == ["description", "input_schema", "metadata"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"enabled": "yes"}, "enabled must be true or false, not str"),
        ({"timeout_seconds": 1.5}, "timeout_seconds must be a whole number, not float"),
        ({"timeout_seconds": True}, "timeout_seconds must be a whole number, not bool"),
        ({"timeout_seconds": 61}, "timeout_seconds: Ensure this value is less than"),
        ({"title": ["a"]}, "title must be text, not list"),
        ({"title": None}, "title must be text, not NoneType"),
        ({"name": 5}, "name must be text, not int"),
        ({"name": "a-b"}, "name: Use letters, digits and underscores only"),
        ({"name": "a\0b"}, "name has a character that cannot be stored"),
        ({"colour": "red"}, "'colour' is not a field; known: name, "),
        ({"id": 1}, "'id' is not a field"),
        ({"handler": ...}, "handler is missing"),
        ({"input_schema": {"type": "array"}}, "input_schema: The root must have"),
        ({"input_schema": "text"}, "input_schema: Must be a JSON object."),
        ({"metadata": {1: "a", "b": 2}}, "metadata has the key 1, which is not plain text"),
        ({"metadata": {"a": float("nan")}}, "metadata.a must be a finite number"),
        ({"source": "pipeline"}, "source: Add a pipeline instead"),
        ({"source": "upstream"}, "source: Add an MCP server instead"),
        ({"source": "nowhere"}, "source: Value 'nowhere' is not a valid choice"),
        ({"source": "builtin"}, "handler: 'echo' is not a built-in"),
        ({"read_only": True, "destructive": True}, "destructive: A read-only tool"),
    ],
)
def test_a_wrong_tool_is_refused_with_the_reason(changes: dict[str, Any], told: str) -> None:
    values = entry() | changes
    (found,) = reasons({name: value for name, value in values.items() if value is not ...})
    assert [one for one in found if one.startswith(told)], found


def test_entries_that_are_no_tools_are_refused() -> None:
    found = reasons(None, "text", [], {})
    assert [one[0] for one in found] == [
        *["must be a mapping of fields to values"] * 3,
        "name is missing",
    ]


def test_a_tool_that_is_named_twice_is_refused() -> None:
    assert reasons(entry(), entry()) == [("is in the document more than once",)] * 2


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (None, "must be a mapping"),
        ([], "must be a mapping"),
        ({"tools": {}}, "tools must be a list"),
        ({"tools": "all"}, "tools must be a list"),
        ({"tolls": []}, "'tolls' is not a section; known: tools, owned_tools, service"),
        ({"tools": [{}] * 5_001}, "there are 5,001 tools; at most 5,000"),
    ],
)
def test_a_document_of_another_shape_is_refused(document: Any, told: str) -> None:
    with pytest.raises(ConfigurationFault, match=told):
        plan_tools(document)


@pytest.mark.parametrize("where", ["tools", "dependencies"])
def test_little_text_that_stands_for_very_much_is_refused(where: str) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    bomb = read_document("\n".join(lines))["a29"]
    document = SERVICE | ({"tools": [bomb]} if where == "tools" else {"dependencies": {"x": bomb}})
    with pytest.raises(ConfigurationFault, match="without aliases"):
        apply_config(document)


def test_merges_that_multiply_are_refused_before_they_are_read() -> None:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 30)]
    with pytest.raises(ConfigurationFault, match="line 2, column 10: write it out without merges"):
        read_document("\n".join(lines))


def test_tools_that_contain_themselves_are_refused() -> None:
    with pytest.raises(ConfigurationFault, match="nested too deeply"):
        plan_tools(read_document("tools: &t\n  - *t\n"))


def test_a_service_and_its_tools_are_applied_together_or_not_at_all() -> None:
    wrong = SERVICE | {"tools": [entry(), entry() | {"name": "class"}]}
    with pytest.raises(ConfigurationFault, match="tools: class: name: class is a Python keyword"):
        apply_config(wrong)
    late = {"tools": [entry()], "service": {"name": "todo", "port": 80, "host": "::1"}}
    with pytest.raises(ConfigurationFault, match=r"service\.port"):
        apply_config(late)
    assert not Tool.objects.exists()
    assert not ServiceConfiguration.objects.exists()
    assert apply_config(SERVICE | {"tools": [entry()]}, dry_run=True).created
    assert not Tool.objects.exists()
    done = apply_config(SERVICE | {"tools": [entry()]})
    assert done.created
    assert done.tools is not None
    assert [one.state for one in done.tools.tools] == [State.NEW]
    assert Tool.objects.get().name == "echo"


def test_only_chosen_tools_are_saved() -> None:
    document = {"tools": [entry(), entry() | {"name": "other"}, {"name": "bad"}]}
    carry_out(document, {"other"})
    assert [tool.name for tool in Tool.objects.all()] == ["other"]
    with pytest.raises(ConfigurationFault, match="tools: bad: description is missing"):
        carry_out(document, {"echo", "bad"})
    assert Tool.objects.count() == 1


def test_a_plan_that_is_out_of_date_is_not_carried_out() -> None:
    document = {"tools": [entry()]}
    digest = plan_tools(document).digest
    make_tool(name="echo", timeout_seconds=9)
    with pytest.raises(ConfigurationFault, match="have changed since"):
        carry_out(document, {"echo"}, digest)
    assert Tool.objects.get().timeout_seconds == 9
