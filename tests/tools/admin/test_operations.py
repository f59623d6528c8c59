"""Operations of HTTP APIs in the admin, made by hand."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.factories import make_tool
from tests.tools.admin.pages import address, submit, text
from tools.models import ApiOperation, ApiService, Tool

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

SECRET = "s3cret-of-the-shop"
SCHEMA = '{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}'


def operation(**changes: str) -> dict[str, str]:
    return {
        "name": "shop_item",
        "description": "Look up an item of the shop.",
        "method": "GET",
        "path": "/items/{id}",
        "input_schema": SCHEMA,
        "parameters": '[{"argument": "id", "in": "path"}]',
        **changes,
    }


def test_operation_by_hand_is_a_tool_at_once(admin_client: Client, service: ApiService) -> None:
    submit(
        admin_client,
        address(ApiOperation, "add"),
        service=str(service.pk),
        **operation(cache_ttl_seconds="60"),
    )
    made = ApiOperation.objects.get()
    assert (made.tool.name, made.tool.cache_ttl_seconds) == ("shop_item", 60)
    assert made.binding()["operation"]["path"] == "/items/{id}"
    page = address(ApiOperation, "change", made.pk)
    submit(admin_client, page, description="Look up one item of the shop.")
    made.tool.refresh_from_db()
    assert made.tool.description == "Look up one item of the shop."
    made.delete()
    assert Tool.objects.count() == 0


def test_who_may_only_look_reads_what_agents_see_of_an_operation(
    client: Client, service: ApiService
) -> None:
    tool = make_tool(name="shop_item", description="Looks up an item.", cache_ttl_seconds=61)
    made = ApiOperation.objects.bulk_create(
        [ApiOperation(service=service, tool=tool, method="GET", path="/items")]
    )[0]
    looker = User.objects.create_user("looker", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_apioperation"))
    client.force_login(looker)
    page = text(client.get(address(ApiOperation, "change", made.pk)))
    assert [word for word in ("shop_item", "Looks up an item.", "61") if word not in page] == []
    assert 'name="description"' not in page


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "item"}, "Must be shop_ and at least one more character"),
        ({"path": "items"}, "Must start with /."),
        ({"path": "/items/{other}"}, "{other} has no parameter."),
        ({"parameters": '[{"argument": "id", "in": "soul"}]'}, "Is not understood"),
        ({"select": "items[?"}, "Is not a JMESPath expression"),
        ({"rules": '{"summary": "nobody"}'}, "nobody"),
        ({"input_schema": '{"type": "array"}'}, "object"),
    ],
)
def test_operation_that_cannot_be_is_told(
    admin_client: Client, service: ApiService, changes: dict[str, str], told: str
) -> None:
    page = submit(
        admin_client, address(ApiOperation, "add"), service=str(service.pk), **operation(**changes)
    )
    assert told in text(page)
    assert Tool.objects.count() == ApiOperation.objects.count() == 0
