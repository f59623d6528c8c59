"""Tools of HTTP APIs that belong to no operation: not made, and where there is one all the same, told of."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.doors import RestDoor
from tests.factories import make_tool, tool_values
from tests.tools.admin.pages import address, submit, text
from tools.conf import ConfigurationFault
from tools.models import ApiOperation, ApiService, Tool
from tools.selectors import load_catalogue
from tools.services.apply_config import read_document, to_yaml
from tools.services.tool_exchange import carry_out, export_tools, plan_tools
from tools.services.tool_status import index_faults, tool_faults

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

NEW = {
    "name": "shop_items",
    "description": "Lists the items of the shop.",
    "source": "http_api",
    "handler": "items",
}
NOTHING = "It belongs to no operation of an HTTP API, so there is nothing to call"
LIST = address(Tool, "changelist")


def page_of(tool: Tool) -> str:
    return address(Tool, "change", tool.pk)


def entry(name: str, **changes: Any) -> dict[str, Any]:
    return tool_values(name=name, **changes)


@pytest.fixture
def operation(service: ApiService) -> ApiOperation:
    """An operation with its tool."""
    made = ApiOperation(
        service=service, tool=make_tool(name="shop_items"), method="GET", path="/items"
    )
    made.save()
    return made


def test_the_form_says_what_to_do_instead(admin_client: Client, without_commands: str) -> None:
    page = text(submit(admin_client, address(Tool, "add"), **NEW))
    assert "Add an operation to an HTTP API instead: it brings its tool along." in page
    assert not Tool.objects.exists()
    submit(
        admin_client, address(Tool, "add"), **NEW | {"source": "builtin", "handler": "tool_search"}
    )
    assert Tool.objects.get().source == "builtin"


def test_an_import_says_what_to_do_instead(admin_client: Client, without_commands: str) -> None:
    document = {"tools": [entry("shop_items")]}
    sent = SimpleUploadedFile("t.yaml", to_yaml(document).encode())
    page = text(admin_client.post("/admin/tools/tool/import/", {"file": sent}))
    assert f"source: {without_commands}" in page
    assert "1 refused." in page
    with pytest.raises(ConfigurationFault, match="Add an operation to an HTTP API instead"):
        carry_out(document)
    assert not Tool.objects.exists()


def test_a_file_with_the_tool_of_an_operation_is_taken_where_it_is(
    operation: ApiOperation, without_commands: str
) -> None:
    make_tool(name="metrics", source="builtin", handler="server_metrics")
    document = export_tools()
    assert document["owned_tools"] == [{"name": "shop_items", "belongs_to": "HTTP API shop"}]
    assert [one.name for one in carry_out(document).tools] == ["metrics"]
    # Written out by hand it is changed where it belongs.
    (planned,) = plan_tools({"tools": [entry("shop_items")]}).tools
    assert planned.reasons == ("belongs to the HTTP API shop, and is changed there",)


def test_the_file_that_the_guide_shows_can_be_imported(without_commands: str) -> None:
    guide = Path(settings.BASE_DIR, "docs/how-to/define-tools.md").read_text()
    (shown,) = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    carry_out(read_document(shown))
    tool = Tool.objects.get()
    assert index_faults(tool) + tool_faults(tool) == []
    assert tool.name in load_catalogue().tools


def test_the_tool_of_an_operation_is_still_saved_from_its_own_page(
    admin_client: Client, operation: ApiOperation, without_commands: str
) -> None:
    page = text(submit(admin_client, page_of(operation.tool), title="Items"))
    assert "was changed successfully" in page
    assert Tool.objects.get().title == "Items"


def test_a_row_that_is_there_all_the_same_is_flagged_and_not_offered(
    admin_client: Client,
    operation: ApiOperation,
    without_commands: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    astray = make_tool(name="astray")
    listed = text(admin_client.get(LIST))
    assert listed.count("It belongs to no operation") == 1
    own = text(admin_client.get(page_of(astray)))
    assert (NOTHING in own, "unavailable" in own) == (True, True)
    assert NOTHING not in text(admin_client.get(page_of(operation.tool)))
    with caplog.at_level(logging.ERROR):
        catalogue = load_catalogue()
    assert set(catalogue.tools) == {"shop_items"}
    assert NOTHING in catalogue.flawed["astray"]
    assert "Tool 'astray' is left out of the catalogue" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_agents_neither_see_nor_call_it(door: RestDoor, without_commands: str) -> None:
    make_tool(name="astray")
    assert door.get("/tools").json()["tools"] == []
    assert door.call("astray", {}).json()["code"] == "TOOL_NOT_FOUND"
