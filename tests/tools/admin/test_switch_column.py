"""The switch in the rows of the list of tools."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client

from controlplane.roles import VIEWER, ensure_roles
from tests.factories import make_tool, tool_values
from tests.tools.admin.pages import address, text
from tools.models import CatalogState, Tool

pytestmark = pytest.mark.django_db

LIST = "/admin/tools/tool/"


def press(client: Client, number: int, on: str, **headers: str) -> Any:
    return client.post(address(Tool, "switch", number), {"on": on}, headers=headers)


def test_a_tool_is_switched_and_the_change_announced(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    version = CatalogState.objects.get().version
    answer = press(admin_client, tool.pk, "no", accept="application/json")
    assert answer.json() == {"on": False, "told": "echo is off."}
    # Twice is as once: two people who press at once do not undo each other.
    assert press(admin_client, tool.pk, "no", accept="application/json").json()["on"] is False
    tool.refresh_from_db()
    assert tool.enabled is False
    assert CatalogState.objects.get().version > version
    assert LogEntry.objects.filter(object_repr="echo").count() == 2
    assert press(admin_client, tool.pk, "yes", accept="application/json").json()["on"] is True


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
    ensure_roles()
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.groups.add(Group.objects.get(name=VIEWER))
    client.force_login(viewer)
    assert button not in text(client.get(LIST))
    assert press(client, tool.pk, "no").status_code == 403
    assert Tool.objects.get().enabled


@pytest.mark.parametrize("on", ["", "maybe", "1"])
def test_a_state_that_is_none_is_refused(admin_client: Client, on: str) -> None:
    assert press(admin_client, make_tool().pk, on).status_code == 400


def test_a_switch_of_nothing_is_not_found(admin_client: Client) -> None:
    assert press(admin_client, 10**30, "no").status_code == 404
    assert admin_client.get(address(Tool, "switch", make_tool().pk)).status_code == 405
