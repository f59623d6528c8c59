"""The tool of an operation of an HTTP API, on its own page: what is changed there and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from tests.factories import make_tool
from tests.tools.admin.pages import address, submit, text, untouched
from tests.trail import trail_of
from tools.models import ApiOperation, ApiService, Tool, ToolVersion

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}}}
OF_THE_OPERATION = {"source", "handler", "remote_name", "required_prefix"}


@pytest.fixture
def operation(service: ApiService) -> ApiOperation:
    """An operation with an argument."""
    tool = make_tool(name="shop_item", input_schema=SCHEMA, title="An item")
    made = ApiOperation(service=service, tool=tool, method="GET", path="/items/{id}")
    made.parameters = [{"argument": "id", "in": "path"}]
    made.save()
    return made


def page_of(operation: ApiOperation) -> str:
    return address(Tool, "change", operation.tool_id)


def test_what_the_operation_decides_is_shown_and_changed_there(
    admin_client: Client, operation: ApiOperation
) -> None:
    page = page_of(operation)
    assert OF_THE_OPERATION.isdisjoint(untouched(admin_client, page))
    shown = text(admin_client.get(page))
    for kind, row in (("apioperation", operation), ("apiservice", operation.service)):
        assert f'href="{reverse(f"admin:tools_{kind}_change", args=[row.pk])}"' in shown
    assert "which argument goes where in it, are set there" in shown
    forged = {"source": "builtin", "handler": "server_metrics", "title": "One item"}
    submit(admin_client, page, **forged, remote_name="x", required_prefix="sh")
    tool = Tool.objects.get()
    assert (tool.source, tool.handler) == ("http_api", "shop GET /items/{id}")
    assert (tool.remote_name, tool.required_prefix) == ("", "shop_")
    assert tool.title == "One item"


def test_arguments_must_be_those_that_the_operation_sends(
    admin_client: Client, operation: ApiOperation
) -> None:
    lacking: dict[str, Any] = {"type": "object", "properties": {"number": {"type": "integer"}}}
    page = text(submit(admin_client, page_of(operation), input_schema=json.dumps(lacking)))
    assert "GET /items/{id}: id is not among the tool&#x27;s arguments." in page
    assert Tool.objects.get().input_schema["properties"] == SCHEMA["properties"]
    more = {"type": "object", "properties": {"id": {"type": "string"}, **lacking["properties"]}}
    submit(admin_client, page_of(operation), input_schema=json.dumps(more))
    assert set(Tool.objects.get().input_schema["properties"]) == {"id", "number"}


def test_a_version_with_other_arguments_than_the_operation_sends_is_not_gone_back_to(
    admin_client: Client, operation: ApiOperation
) -> None:
    # Both were changed together since.
    operation.tool.input_schema = {"type": "object", "properties": {"sku": {"type": "string"}}}
    operation.path, operation.parameters = "/items/{sku}", [{"argument": "sku", "in": "path"}]
    operation.tool.save()
    operation.save()
    tool, first = operation.tool, ToolVersion.objects.earliest("number").number
    revert = reverse("admin:tools_tool_revert", args=[tool.pk, first])
    shown = admin_client.get(revert)
    assert {*shown.context["left"]} == {name.replace("_", " ") for name in OF_THE_OPERATION}
    answer = admin_client.post(revert, {"seen": shown.context["seen"]}, follow=True)
    assert "Nothing was changed. input schema: GET /items/{sku}: sku is not among" in text(answer)
    tool.refresh_from_db()
    assert set(tool.input_schema["properties"]) == {"sku"}


def clone_of(tool: Tool) -> str:
    return reverse("admin:tools_tool_clone", args=[tool.pk])


def values(row: Any, *without: str) -> dict[str, Any]:
    kept = type(row).objects.filter(pk=row.pk).values().get()
    return {
        name: value for name, value in kept.items() if name not in {"id", "updated_at", *without}
    }


def test_a_copy_comes_with_a_copy_of_its_operation(
    admin_client: Client, operation: ApiOperation
) -> None:
    operation.imported_key, operation.adapter = "GET /items/{id}", "trial"
    operation.query, operation.select = {"full": "1"}, "item"
    operation.save()
    changes = {"token_budget": 500, "tags": ["a"], "max_concurrent": 3, "cache_ttl_seconds": 60}
    Tool.objects.update(**changes)
    assert untouched(admin_client, clone_of(operation.tool))["name"] == "shop_item_copy"
    done = submit(admin_client, clone_of(operation.tool), name="shop_one")
    assert "shop_one was added as a copy of shop_item. It is switched off." in text(done)
    made = ApiOperation.objects.get(tool__name="shop_one")
    assert done.redirect_chain[-1][0] == page_of(made)
    row = ("tool_id", "imported_key")
    assert values(made, *row) == values(operation, *row)
    # What an import finds again is the one that was imported.
    assert (made.imported_key, operation.imported_key) == ("", "GET /items/{id}")
    own = ("name", "enabled", "created_at")
    assert values(made.tool, *own) == values(operation.tool, *own)
    assert (made.tool.enabled, made.tool.token_budget) == (False, 500)
    assert trail_of(made.tool)[-1].note == "Cloned from shop_item."


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("shop_item", "Tool with this Name already exists."),
        ("other", "Must be shop_ and at least one more character."),
        ("shop item", "Use letters, digits and underscores only"),
        ("", "This field is required."),
    ],
)
def test_a_copy_under_a_name_that_cannot_be_is_not_made(
    admin_client: Client, operation: ApiOperation, name: str, told: str
) -> None:
    page = text(submit(admin_client, clone_of(operation.tool), name=name))
    assert told in page
    assert (Tool.objects.count(), ApiOperation.objects.count()) == (1, 1)


def test_nothing_is_left_of_a_copy_whose_operation_cannot_be_saved(
    admin_client: Client, operation: ApiOperation
) -> None:
    ApiOperation.objects.update(path="items")
    page = text(submit(admin_client, clone_of(operation.tool), name="shop_one"))
    assert "Must start with /." in page
    assert Tool.objects.count() == 1


def test_looking_at_the_page_of_a_copy_makes_none(
    admin_client: Client, operation: ApiOperation
) -> None:
    admin_client.get(clone_of(operation.tool))
    assert Tool.objects.count() == 1


def test_a_copy_needs_the_permission_to_add_operations(
    client: Client, operation: ApiOperation
) -> None:
    person = User.objects.create_user("some", is_staff=True)
    names = ("view_tool", "add_tool")
    person.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(person)
    assert client.post(clone_of(operation.tool), {"name": "shop_one"}).status_code == 403
    person.user_permissions.add(Permission.objects.get(codename="add_apioperation"))
    client.post(clone_of(operation.tool), {"name": "shop_one"})
    assert Tool.objects.filter(name="shop_one").exists()
