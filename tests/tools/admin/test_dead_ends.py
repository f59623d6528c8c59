"""No page of the admin leads people to what they may not do."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from controlplane.roles import OPERATOR, VIEWER, ensure_roles
from tests.tools.admin.pages import address, submit, text
from tools.models import ApiClient, ApiService

pytestmark = pytest.mark.django_db


def somebody(client: Client, role: str) -> Client:
    ensure_roles()
    person = User.objects.create_user(role.lower(), is_staff=True)
    person.groups.add(Group.objects.get(name=role))
    client.force_login(person)
    return client


def test_nobody_is_sent_to_make_a_key_who_may_not(client: Client) -> None:
    page = text(somebody(client, OPERATOR).get("/admin/tools/apiclient/connect/?key=send"))
    assert reverse("admin:tools_apiclient_add") not in page
    assert "Ask an administrator for a key" in page


def test_viewers_are_not_sent_to_make_questions(client: Client) -> None:
    page = text(somebody(client, VIEWER).get(reverse("admin:tools_evaluationrun_evaluate")))
    assert reverse("admin:tools_questionset_add") not in page
    assert "Operators make them" in page


def test_viewers_are_not_sent_to_import_operations(client: Client) -> None:
    call_command("seed_nsip", stdout=io.StringIO())
    service = ApiService.objects.get()
    page = text(
        somebody(client, VIEWER).get(reverse("admin:tools_apiservice_change", args=[service.pk]))
    )
    assert "Its operations" in page
    assert "Import an OpenAPI document" not in page
    assert reverse("admin:tools_apioperation_add") not in page


def with_permissions(client: Client, *codenames: str) -> Client:
    """Somebody in no role who was given just these."""
    person = User.objects.create_user("custom", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(person)
    return client


def test_viewers_are_not_sent_to_add_a_first_pipeline(client: Client) -> None:
    page = text(somebody(client, VIEWER).get(reverse("admin:tools_pipelineconfig_compare")))
    assert "There is no pipeline yet." in page
    assert reverse("admin:tools_pipelineconfig_add") not in page


def test_whoever_may_only_add_clients_is_led_nowhere_else(client: Client) -> None:
    adding = with_permissions(client, "add_apiclient")
    page = text(submit(adding, address(ApiClient, "add"), name="agent"))
    assert "This client sees no tools" in page
    assert f'href="{address(ApiClient, "change", ApiClient.objects.get().pk)}"' not in page
    assert f'href="{reverse("admin:tools_apiclient_connect")}' not in page
    assert f'href="{reverse("admin:tools_toolrequest_changelist")}' not in page


def test_whoever_may_only_see_http_apis_is_led_nowhere_else(client: Client) -> None:
    call_command("seed_nsip", stdout=io.StringIO())
    seeing = with_permissions(client, "view_apiservice")
    page = text(seeing.get(address(ApiService, "change", ApiService.objects.get().pk)))
    assert "Breaker" in page
    for place in ("tools_apioperation_changelist", "tools_upstreamserver_breakers"):
        assert f'href="{reverse(f"admin:{place}")}' not in page


def test_whoever_may_add_operations_is_led_there(client: Client) -> None:
    call_command("seed_nsip", stdout=io.StringIO())
    adding = with_permissions(client, "view_apiservice", "add_apioperation")
    page = text(adding.get(address(ApiService, "change", ApiService.objects.get().pk)))
    assert f'href="{reverse("admin:tools_apioperation_add")}' in page
    assert "Import an OpenAPI document" not in page
