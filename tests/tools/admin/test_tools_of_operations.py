"""The tool of an operation of an HTTP API, on its own page: what is changed there and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.tools.admin.operation_tools import SCHEMA, operation, page_of
from tests.tools.admin.pages import submit, text, untouched
from tools.models import ApiOperation, Tool, ToolVersion

__all__ = ["operation"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

OF_THE_OPERATION = {"source", "handler", "remote_name", "required_prefix"}


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
