"""What another site sends in the name of somebody who is logged in: no page of the admin takes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, resolve

from tests.factories import make_tool
from tests.tools.admin.pages import address, text
from tools.models import Tool, Toolset

pytestmark = pytest.mark.django_db

ROUTED: Final = re.compile(r"<(?:(\w+):)?(\w+)>")
NAMED: Final = re.compile(r"\(\?P<(\w+)>[^)]*\)")
VALUES: Final = {"uuid": str(UUID(int=1)), "app_label": "tools", "url": "nowhere", "app": "tools"}
WRITES: Final = ("INSERT", "UPDATE", "DELETE", "REPLACE")


def routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """Every route below, written as in the files of addresses."""
    for one in resolver.url_patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLPattern):
            yield route
        else:
            yield from routes(one, route)


def addresses() -> list[str]:
    """An address of each page of the admin, whoever has added it."""
    found = {filled(route) for route in routes(get_resolver()) if route.startswith("admin/")}
    for one in found:
        resolve(one)
    return sorted(found)


def filled(route: str) -> str:
    """The route with values for what is open in it."""
    named = NAMED.sub(lambda hole: VALUES[hole[1]], route)
    whole = ROUTED.sub(lambda hole: VALUES.get(hole[1] or "", VALUES.get(hole[2], "1")), named)
    return "/" + whole.replace("^", "").replace("$", "")


@pytest.fixture
def victim(admin_user: User) -> Client:
    """The browser of a superuser, with all that the checks against forgery look at."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(admin_user)
    # With the cookie, so that only the token of the form is missing.
    browser.get(address(Toolset, "add"))
    return browser


def test_post_without_a_token_is_refused_by_every_page_and_writes_nothing(victim: Client) -> None:
    make_tool()
    all_of_them = addresses()
    assert len(all_of_them) > 200
    taken: dict[str, Any] = {}
    for one in all_of_them:
        with CaptureQueriesContext(connection) as queries:
            answer = victim.post(one, {"post": "yes", "enabled": "on", "_save": "Save"})
        written = [done["sql"] for done in queries if done["sql"].startswith(WRITES)]
        if answer.status_code != 403 or "CSRF verification failed" not in text(answer) or written:
            taken[one] = (answer.status_code, written)
    assert not taken, taken


def test_token_of_another_form_does_not_make_a_forged_one_true(victim: Client) -> None:
    page = address(Toolset, "add")
    forged = {"slug": "forged", "csrfmiddlewaretoken": "a" * 64}
    assert victim.post(page, forged).status_code == 403
    assert not Toolset.objects.filter(slug="forged").exists()


def test_same_post_with_its_token_is_taken(victim: Client) -> None:
    tool = make_tool()
    page = address(Tool, "switch", tool.pk)
    assert victim.post(page, {"on": "no"}).status_code == 403
    assert Tool.objects.get().enabled
    token = victim.cookies["csrftoken"].value
    assert victim.post(page, {"on": "no", "csrfmiddlewaretoken": token}).status_code == 302
    assert not Tool.objects.get().enabled
