"""A copy of an HTTP API's tool: it comes with a copy of its operation, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from tests.tools.admin.operation_tools import operation, page_of
from tests.tools.admin.pages import submit, text, untouched
from tests.trail import trail_of
from tools.models import ApiOperation, Tool

__all__ = ["operation"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


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
    shown = text(admin_client.get(clone_of(operation.tool)))
    assert ">Clone shop_item</h1>" in shown
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
