"""The switch in the rows of lists: of tools, and of all that may be at fault in an incident."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils.html import strip_tags

from controlplane.roles import VIEWER, ensure_roles
from tests.factories import make_client, make_tool, tool_values
from tests.tools.admin.pages import act, address, text
from tests.trail import became, trail_of
from tests.upstream_rows import make_upstream
from tools.models import ApiClient, ApiService, CatalogState, Tool, UpstreamServer

pytestmark = pytest.mark.django_db

LIST = "/admin/tools/tool/"


def make_row(model: type[Any]) -> Any:
    """A row of a kind that can be switched off in its list, switched on."""
    if model is ApiClient:
        return make_client(name="agent")[0]
    if model is UpstreamServer:
        return make_upstream(slug="todo")
    return ApiService.objects.create(slug="shop", base_url="https://shop.example/v1")


def log_in_viewer(client: Client) -> None:
    ensure_roles()
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.groups.add(Group.objects.get(name=VIEWER))
    client.force_login(viewer)


def words(html: str) -> str:
    return strip_tags(html).strip()


def press(client: Client, number: int, on: str, **headers: str) -> Any:
    return client.post(address(Tool, "switch", number), {"on": on}, headers=headers)


def test_a_tool_is_switched_and_the_change_announced(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    version = CatalogState.objects.get().version
    answer = press(admin_client, tool.pk, "no", accept="application/json")
    told = answer.json()
    assert (told["on"], told["told"]) == (False, "echo is off.")
    assert [(name, words(shown)) for name, shown in told["cells"].items()] == [
        ("status_now", "off")
    ]
    # Twice is as once: two people who press at once do not undo each other.
    assert press(admin_client, tool.pk, "no", accept="application/json").json()["on"] is False
    tool.refresh_from_db()
    assert tool.enabled is False
    assert CatalogState.objects.get().version > version
    assert LogEntry.objects.filter(object_repr="echo").count() == 2
    again = press(admin_client, tool.pk, "yes", accept="application/json").json()
    assert again["on"] is True
    assert words(again["cells"]["status_now"]) == "healthy"


def test_without_a_script_the_list_comes_back_as_it_was(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    page = f"http://testserver{LIST}?q=echo"
    answer = press(admin_client, tool.pk, "no", referer=page)
    assert answer.headers["Location"] == f"{LIST}?q=echo"
    assert "echo is off." in text(admin_client.get(LIST))
    elsewhere = press(admin_client, tool.pk, "no", referer="https://other.example/?q=1")
    assert elsewhere.headers["Location"] == LIST


def test_a_tool_with_faults_is_switched_off_and_its_fault_told_when_on(
    admin_client: Client,
) -> None:
    Tool.objects.bulk_create([Tool(**tool_values(name="bent", tags={"no": "list"}))])
    tool = Tool.objects.get()
    assert press(admin_client, tool.pk, "no", accept="application/json").json()["on"] is False
    told = press(admin_client, tool.pk, "yes", accept="application/json").json()["told"]
    assert told.startswith("bent is on, but callers do not get it: tags:")


def test_the_list_has_a_switch_for_who_may_change_tools(
    client: Client, admin_client: Client
) -> None:
    tool = make_tool(name="echo")
    button = f'formaction="{address(Tool, "switch", tool.pk)}"'
    assert button in text(admin_client.get(LIST))
    log_in_viewer(client)
    assert button not in text(client.get(LIST))
    assert press(client, tool.pk, "no").status_code == 403
    assert Tool.objects.get().enabled


@pytest.mark.parametrize("on", ["", "maybe", "1"])
def test_a_state_that_is_none_is_refused(admin_client: Client, on: str) -> None:
    assert press(admin_client, make_tool().pk, on).status_code == 400


def test_a_switch_of_nothing_is_not_found(admin_client: Client) -> None:
    assert press(admin_client, 10**30, "no").status_code == 404
    assert admin_client.get(address(Tool, "switch", make_tool().pk)).status_code == 405


SWITCHED = pytest.mark.parametrize("model", [ApiClient, UpstreamServer, ApiService])


@SWITCHED
@pytest.mark.usefixtures("redis_url")
def test_what_may_be_at_fault_is_switched_in_its_list_as_in_its_form(
    admin_client: Client, model: type[Any]
) -> None:
    row, page = make_row(model), address(model, "changelist")
    version = CatalogState.objects.get().version
    listed = text(admin_client.get(page))
    assert f'formaction="{address(model, "switch", row.pk)}" name="on" value="no"' in listed
    assert "tools/admin/switch.js" in listed
    answer = admin_client.post(
        address(model, "switch", row.pk), {"on": "no"}, headers={"accept": "application/json"}
    )
    assert answer.json() == {"on": False, "told": f"{row} is off."}
    row.refresh_from_db()
    assert row.enabled is False
    assert CatalogState.objects.get().version > version
    entry = trail_of(row)[-1]
    assert (entry.actor, became(entry, "enabled")) == ("admin", (True, False))
    assert entry.action == ("revoked" if model is ApiClient else "changed")
    listed = text(admin_client.get(page))
    assert f'formaction="{address(model, "switch", row.pk)}" name="on" value="yes"' in listed


@SWITCHED
@pytest.mark.usefixtures("redis_url")
def test_who_may_only_look_switches_nothing(client: Client, model: type[Any]) -> None:
    row = make_row(model)
    log_in_viewer(client)
    listed = client.get(address(model, "changelist"))
    assert listed.status_code == 200
    assert "row-switch" not in text(listed)
    assert client.post(address(model, "switch", row.pk), {"on": "no"}).status_code == 403
    row.refresh_from_db()
    assert row.enabled


@pytest.mark.usefixtures("redis_url")
def test_http_apis_are_switched_together(admin_client: Client) -> None:
    row = make_row(ApiService)
    assert "1 HTTP API disabled." in text(act(admin_client, ApiService, "disable", row))
    row.refresh_from_db()
    assert row.enabled is False
    assert became(trail_of(row)[-1], "enabled") == (True, False)
    assert "1 HTTP API enabled." in text(act(admin_client, ApiService, "enable", row))
