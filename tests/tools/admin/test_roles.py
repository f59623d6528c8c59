"""The roles that come with the service, as people in them meet the admin."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.helpers import AdminReadonlyField
from django.contrib.admin.utils import lookup_field
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import reverse
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, SolarSchedule

from controlplane.roles import ADMINISTRATOR, OPERATOR, ROLES, VIEWER, ensure_roles
from tests.factories import make_client, make_service, make_tool
from tests.tools.admin.many_rows import Rows
from tests.tools.admin.pages import address, untouched
from tools.admin.navigation import PLAN
from tools.models import (
    ApiClient,
    Corpus,
    LabelledQuestion,
    QuestionSet,
    Tool,
    ToolRequest,
    ToolResponse,
)

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


def one_of_each_kind() -> None:
    """A row of every model that the admin has."""
    Rows().add(1)
    make_service()
    asked = QuestionSet.objects.create(name="asked", corpus=Corpus.objects.all()[0])
    LabelledQuestion.objects.create(question_set=asked, key="1", text="Who?", relevant={"1.txt": 1})
    call = ToolRequest.objects.all()[0]
    ToolResponse.objects.create(
        pk=call.pk, response_id=call.request_id, received_at=call.received_at, body="{}"
    )
    CrontabSchedule.objects.create()
    ClockedSchedule.objects.create(clocked_time=datetime(2030, 1, 1, tzinfo=UTC))
    SolarSchedule.objects.create(event="sunset", latitude=0, longitude=0)


def allowed(role: str) -> list[str]:
    """A row of each kind that people of that role may look at, and each form they may fill in."""
    request = RequestFactory().get("/admin/")
    request.user = User.objects.get(username=role.lower())
    found = []
    for model, shown in admin.site._registry.items():
        first = model._default_manager.order_by("pk").first()
        assert first is not None, model
        if shown.has_view_permission(request, first):
            found.append(address(model, "change", first.pk))
        if shown.has_add_permission(request):
            found.append(address(model, "add"))
    return found


def without_value(page: Any) -> list[str]:
    """The fields on a page that are there to be read, and of which there is nothing to read."""
    fields = [field for part in page.context["adminform"] for line in part for field in line]
    found = []
    for field in fields:
        if isinstance(field, AdminReadonlyField):
            name = field.field["field"]
            try:
                lookup_field(name, field.form.instance, field.model_admin)
            except AttributeError:
                found.append(str(name))
    return found


@pytest.mark.parametrize("role", ROLES)
def test_everybody_opens_a_row_of_each_kind_and_each_form_that_the_role_allows(
    client: Client, redis_url: str, role: str
) -> None:
    one_of_each_kind()
    person(client, role)
    opened = {page: client.get(page, follow=True) for page in allowed(role)}
    assert {page: answer.status_code for page, answer in opened.items()} == dict.fromkeys(
        opened, 200
    )
    empty = {page: without_value(answer) for page, answer in opened.items()}
    assert {page: names for page, names in empty.items() if names} == {}


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
