"""Imports of OpenAPI documents in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.openapi_documents import shop, written
from tests.tools.admin.pages import text
from tools.models import ApiService, Tool

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

SECRET = "s3cret-of-the-shop"
SCHEMA = '{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}'


def upload(client: Client, service: ApiService, document: Any, **more: Any) -> Any:
    page = reverse("admin:tools_apiservice_import", args=[service.pk])
    file = SimpleUploadedFile("shop.json", written(document).encode())
    return client.post(page, {"file": file, **more}, follow=True)


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
