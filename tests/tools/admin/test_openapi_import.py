"""Imports of OpenAPI documents in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from controlplane.roles import VIEWER, ensure_roles
from tests.factories import make_tool
from tests.openapi_documents import shop, written
from tests.tools.admin.pages import filled_in, text
from tools.models import ApiService, Tool

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

SECRET = "s3cret-of-the-shop"
SCHEMA = '{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}'


def upload(client: Client, service: ApiService, document: Any, **more: Any) -> Any:
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    file = SimpleUploadedFile("shop.json", written(document).encode())
    return client.post(page, {"file": file, **more}, follow=True)


def save(client: Client, page: str, shown: Any) -> Any:
    """Save all that a preview offers."""
    preview = shown.context["preview"]
    keys = [row["key"] for row in preview["rows"]]
    given = {"save": "1", "digest": preview["digest"], "chosen": keys}
    return client.post(page, given, follow=True)


def test_document_is_shown_before_anything_is_saved(
    admin_client: Client, service: ApiService
) -> None:
    shown = upload(admin_client, service, shop())
    assert "2 operations can be tools, 0 cannot" in text(shown)
    assert "shop_get_item" in text(shown)
    # What agents would call, and with what.
    assert f"Tools will call <code>{service.base_url}</code>" in text(shown)
    assert "Takes id*" in text(shown)
    assert Tool.objects.count() == 0
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    saved = admin_client.post(
        page,
        {"save": "1", "digest": shown.context["preview"]["digest"], "chosen": ["GET /items/{id}"]},
        follow=True,
    )
    assert "1 tool added, 0 changed, 0 switched off." in text(saved)
    assert [tool.name for tool in Tool.objects.all()] == ["shop_get_item"]


def test_what_another_operator_looks_at_is_not_saved(
    admin_client: Client, service: ApiService
) -> None:
    shown = upload(admin_client, service, shop())
    upload(admin_client, service, shop(**{"/orders": None}))
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    digest = shown.context["preview"]["digest"]
    saved = admin_client.post(page, {"save": "1", "digest": digest}, follow=True)
    assert "Choose yours again." in text(saved)
    assert Tool.objects.count() == 0


@pytest.mark.parametrize("meanwhile", ["imported", "deleted", "moved", "prefix", "collision"])
def test_a_preview_that_does_not_hold_any_more_is_not_saved(
    admin_client: Client, service: ApiService, meanwhile: str
) -> None:
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    first = upload(admin_client, service, shop())
    if meanwhile == "deleted":
        save(admin_client, page, first)
    shown = upload(admin_client, service, shop())
    rows = ApiService.objects.filter(pk=service.pk)
    if meanwhile == "imported":
        save(admin_client, page, shown)
        rows.update(draft=written(shop()))
    elif meanwhile == "deleted":
        Tool.objects.get(name="shop_get_item").delete()
    elif meanwhile == "moved":
        rows.update(base_url="https://elsewhere.example")
    elif meanwhile == "prefix":
        rows.update(prefix="other_")
    else:
        make_tool(name="shop_get_item")
    before = sorted(Tool.objects.values_list("pk", "updated_at"))
    assert "Choose yours again." in text(save(admin_client, page, shown))
    assert sorted(Tool.objects.values_list("pk", "updated_at")) == before


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "Choose a file, name an address, or paste a document."),
        ({"pasted": "not a document"}, "document"),
        ({"address": "http://127.0.0.1:9/openapi.json"}, "cannot be had"),
        ({"address": "file:///etc/passwd"}, "cannot be had"),
    ],
)
def test_what_cannot_be_imported_is_told(
    admin_client: Client, service: ApiService, given: dict[str, str], told: str
) -> None:
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    assert told in text(admin_client.post(page, given))


def test_later_import_shows_what_changes_before_beside_after(
    admin_client: Client, service: ApiService
) -> None:
    shown = upload(admin_client, service, shop())
    assert "What changes" not in text(shown)
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    keys = ["GET /items/{id}", "POST /orders"]
    digest = shown.context["preview"]["digest"]
    admin_client.post(page, {"save": "1", "digest": digest, "chosen": keys})
    later = shop()
    item = later["paths"]["/items/{id}"]["get"]
    item["summary"] = "Get one thing of the shop."
    item["parameters"][1]["schema"] = {"type": "string"}
    again = upload(admin_client, service, later)
    # Of one of the two operations.
    assert text(again).count("What changes") == 1
    (row,) = [one for one in again.context["preview"]["rows"] if one["differences"]]
    assert row["key"] == "GET /items/{id}"
    found = {one.where: (_text(one.old), _text(one.new)) for one in row["differences"]}
    old, new = found["argument full"]
    assert "boolean" in old
    assert "string" in new
    assert "Get one item of the shop." in found["description"][0]
    assert "Get one thing of the shop." in found["description"][1]
    assert ">item</del>" in text(again)
    assert ">thing</ins>" in text(again)


def _text(pieces: Any) -> str:
    return "".join(piece.text for piece in pieces)


NEW = "/admin/tools/apiservice/from-document/"


def test_another_name_in_a_later_document_is_told_and_not_taken(
    admin_client: Client, service: ApiService
) -> None:
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    shown = upload(admin_client, service, shop())
    digest = shown.context["preview"]["digest"]
    admin_client.post(page, {"save": "1", "digest": digest, "chosen": ["GET /items/{id}"]})
    later = shop()["paths"]["/items/{id}"]
    later["get"]["operationId"] = "findItem"
    shown = upload(admin_client, service, shop(**{"/items/{id}": later}))
    assert '<code style="overflow-wrap: anywhere">shop_get_item</code>' in text(shown)
    assert "has the name shop_find_item now; the tool keeps its own" in text(shown)
    assert "is now called" not in text(shown)


def test_new_api_is_made_of_a_document_and_its_operations_follow(admin_client: Client) -> None:
    assert NEW in text(admin_client.get(reverse("admin:tools_apiservice_changelist")))
    asked = admin_client.post(NEW, {"pasted": written(shop())})
    values = filled_in(asked)
    given = {name: values[name] for name in ("slug", "title", "base_url", "prefix")}
    assert given == {
        "slug": "shop",
        "title": "Shop",
        "base_url": "https://shop.example/v1",
        "prefix": "",
    }
    assert not ApiService.objects.exists()
    shown = admin_client.post(NEW, values | {"prefix": "shop_"}, follow=True)
    assert "Shop is saved, without tools so far: choose its operations." in text(shown)
    assert "2 operations can be tools, 0 cannot" in text(shown)
    assert "shop_get_item" in text(shown)
    made = ApiService.objects.get()
    assert (made.slug, made.base_url) == ("shop", "https://shop.example/v1")
    assert Tool.objects.count() == 0
    saved = admin_client.post(
        shown.redirect_chain[-1][0],
        {"save": "1", "digest": shown.context["preview"]["digest"], "chosen": ["POST /orders"]},
        follow=True,
    )
    assert "1 tool added, 0 changed, 0 switched off." in text(saved)
    assert [tool.name for tool in Tool.objects.all()] == ["shop_add_order"]


def test_new_api_takes_its_way_of_signing_in_and_asks_for_the_key(admin_client: Client) -> None:
    document = shop()
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Shop-Key"}}
    document |= {"components": {"securitySchemes": schemes}, "security": [{"key": []}]}
    asked = admin_client.post(NEW, {"pasted": written(document)})
    shown = admin_client.post(NEW, filled_in(asked), follow=True)
    assert "enter its key on its page" in text(shown)
    made = ApiService.objects.get()
    assert (made.auth, made.auth_name, made.secret) == ("header", "X-Shop-Key", "")


def test_new_api_without_an_address_or_with_a_taken_name_is_told_at_its_field(
    admin_client: Client, service: ApiService
) -> None:
    asked = admin_client.post(NEW, {"pasted": written(shop() | {"servers": []})})
    values = filled_in(asked)
    assert values["base_url"] == ""
    told = text(admin_client.post(NEW, values))
    assert "This field is required." in told
    assert "already exists" in told
    again = filled_in(admin_client.post(NEW, values))
    assert again["kept"] == values["kept"]
    admin_client.post(NEW, again | {"slug": "other", "base_url": "https://other.example"})
    assert ApiService.objects.get(slug="other").base_url == "https://other.example"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "Choose a file, name an address, or paste a document."),
        ({"pasted": "not a document"}, "document"),
        ({"address": "http://127.0.0.1:9/openapi.json"}, "cannot be had"),
        ({"address": "http://169.254.169.254/latest"}, "cannot be had"),
        ({"kept": "nonsense"}, "Choose the document again."),
    ],
)
def test_no_api_is_made_of_what_is_no_document(
    admin_client: Client, given: dict[str, str], told: str
) -> None:
    assert told in text(admin_client.post(NEW, given, follow=True))
    assert not ApiService.objects.exists()


def test_viewer_makes_no_api_of_a_document(client: Client) -> None:
    ensure_roles()
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.groups.add(Group.objects.get(name=VIEWER))
    client.force_login(viewer)
    assert NEW not in text(client.get(reverse("admin:tools_apiservice_changelist")))
    assert client.post(NEW, {"pasted": written(shop())}).status_code == 403
