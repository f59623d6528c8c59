"""The roles that come with the service, as people in them meet the admin."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from controlplane.roles import ADMINISTRATOR, OPERATOR, ROLES, VIEWER, ensure_roles
from tests.factories import make_client, make_tool
from tests.tools.admin.pages import address, untouched
from tools.admin.navigation import PLAN
from tools.models import ApiClient, Tool

pytestmark = pytest.mark.django_db

# The lists of the side bar that only administrators may see, and the one that viewers may not.
PEOPLE = {"/admin/auth/user/", "/admin/auth/group/", "/admin/axes/accessattempt/"}
TRAIL = "/admin/tools/auditentry/"


@pytest.fixture(autouse=True)
def roles() -> None:
    ensure_roles()


def person(client: Client, role: str) -> Client:
    """A browser in which somebody of that role is logged in."""
    user = User.objects.create_user(role.lower(), is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client.force_login(user)
    return client


def lists() -> list[str]:
    return [
        reverse(f"admin:{app}_{model}_{page[0] if page else 'changelist'}")
        for _, entries in PLAN
        for _, _, app, model, *page in entries
    ]


@pytest.mark.parametrize("role", ROLES)
def test_everybody_sees_every_page_but_those_of_people_and_the_trail(
    client: Client, role: str
) -> None:
    person(client, role)
    refused = {page for page in lists() if client.get(page).status_code == 403}
    # Whoever only looks runs no tools.
    running = {reverse("admin:tools_tool_choose")}
    unseen = {VIEWER: {*PEOPLE, TRAIL, *running}, OPERATOR: PEOPLE, ADMINISTRATOR: set()}
    assert refused == unseen[role]


@pytest.mark.parametrize(
    ("role", "may"), [(VIEWER, False), (OPERATOR, True), (ADMINISTRATOR, True)]
)
def test_viewers_change_no_tool(client: Client, role: str, may: bool) -> None:
    tool = make_tool(name="echo", enabled=True)
    person(client, role)
    page = address(Tool, "change", tool.pk)
    values = untouched(client, page) if may else {}
    values.pop("enabled", None)
    answer = client.post(page, values)
    tool.refresh_from_db()
    assert (answer.status_code, tool.enabled) == ((302, False) if may else (403, True))


@pytest.mark.parametrize(("role", "may"), [(OPERATOR, False), (ADMINISTRATOR, True)])
def test_keys_and_the_configuration_are_for_administrators(
    client: Client, role: str, may: bool
) -> None:
    key = make_client(name="agent")[0]
    person(client, role)
    assert client.get(address(ApiClient, "change", key.pk)).status_code == 200
    assert (client.get(address(ApiClient, "add")).status_code == 200) is may
    configuration = reverse("admin:tools_serviceconfiguration_add")
    assert (client.get(configuration).status_code == 200) is may


def test_what_a_role_lacks_is_added_and_what_was_added_stays() -> None:
    viewer = Group.objects.get(name=VIEWER)
    lost = viewer.permissions.get(codename="view_tool")
    extra = Permission.objects.get(codename="add_tool")
    viewer.permissions.remove(lost)
    viewer.permissions.add(extra)
    call_command("migrate", verbosity=0)
    assert {lost, extra} <= set(viewer.permissions.all())
    assert Group.objects.count() == len(ROLES)
