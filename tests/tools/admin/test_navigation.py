"""The side bar, and which models the admin has at all."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.http import HttpRequest
from django.test import Client, RequestFactory
from unfold.admin import ModelAdmin

from tools.admin.navigation import sidebar
from tools.models import CatalogState

pytestmark = pytest.mark.django_db


def request_of(user: User) -> HttpRequest:
    request = RequestFactory().get("/admin/")
    request.user = user
    return request


def test_administrator_sees_every_area() -> None:
    root = User.objects.create_superuser("root")
    groups = {
        group["title"]: [item["title"] for item in group["items"]]
        for group in sidebar(request_of(root))
    }
    assert list(groups) == [
        "Overview",
        "Catalogue",
        "HTTP APIs",
        "MCP servers",
        "Knowledge",
        "Request log",
        "Health",
        "Access",
        "Service",
    ]
    assert groups["Catalogue"] == ["Tools", "Try it", "Prompts", "Resources", "Toolsets", "Cache"]
    assert groups["HTTP APIs"] == ["HTTP APIs", "Operations"]
    assert groups["MCP servers"] == ["Servers", "Offers", "Breakers"]
    assert groups["Knowledge"] == [
        "Pipelines",
        "Compare",
        "Corpora",
        "Documents",
        "Passages",
        "Index versions",
        "Question sets",
        "Evaluations",
    ]
    assert groups["Health"] == [
        "Now",
        "History",
        "Changes",
        "Objectives",
        "Webhooks",
        "Deliveries",
        "Schedule",
    ]
    assert groups["Access"] == [
        "API clients",
        "Connect a client",
        "Users",
        "Groups",
        "Failed log-ins",
        "Audit trail",
    ]


def test_entries_lead_to_pages(admin_client: Client) -> None:
    root = User.objects.get(username="admin")
    for group in sidebar(request_of(root)):
        for item in group["items"]:
            assert admin_client.get(item["link"]).status_code == 200, item


def test_person_sees_what_they_may_look_at() -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    groups = sidebar(request_of(User.objects.get(pk=viewer.pk)))
    assert [item["title"] for group in groups for item in group["items"]] == [
        "Dashboard",
        "Calls",
        "Success criteria",
        "API documentation",
    ]


@pytest.mark.parametrize(
    ("page", "current"),
    [
        ("/admin/", ["Dashboard"]),
        ("/admin/tools/tool/7/change/", ["Tools"]),
        ("/admin/tools/tool/cache/", ["Cache"]),
        ("/admin/password_change/", []),
    ],
)
def test_one_entry_is_marked_as_the_one_being_looked_at(page: str, current: list[str]) -> None:
    request = request_of(User.objects.create_superuser("root"))
    request.path = page
    groups = sidebar(request)
    marked = [item["title"] for group in groups for item in group["items"] if item.get("active")]
    assert marked == current


def test_every_registered_model_is_in_the_theme_and_inner_state_is_not_registered() -> None:
    registered = dict(admin.site._registry)
    assert CatalogState not in registered
    assert all(isinstance(model_admin, ModelAdmin) for model_admin in registered.values())


def test_index_and_log_out_pages_work(admin_client: Client) -> None:
    assert admin_client.get("/admin/").status_code == 200
    assert admin_client.post("/admin/logout/").status_code in {200, 302}


def test_stranger_is_sent_to_the_log_in_page(client: Client) -> None:
    response = client.get("/admin/tools/tool/")
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/admin/login/")
