"""No page of the admin takes many queries, however many rows there are."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from health.admin.dashboard.ranges import RANGES
from tests.tools.admin.many_rows import Rows
from tools.admin.navigation import sidebar
from tools.services.fold_figures import fold_figures

pytestmark = pytest.mark.django_db

MOST = 30
# There are fewer techniques than the first.
FEW, MANY = 10, 60


def pages() -> Iterator[str]:
    """Everything in the side bar, all lists, searched too, and the first row of each kind."""
    request = RequestFactory().get("/admin/")
    request.user = User.objects.get(username="admin")
    found = [item["link"] for group in sidebar(request) for item in group["items"]]
    yield from (str(link) for link in found if str(link).startswith("/admin/"))
    yield from (f"/admin/?range={name}" for name in RANGES)
    for part in ("live", "calls", "incidents", "running"):
        yield reverse(f"admin:health_healthsnapshot_{part}")
    for model, shown in admin.site._registry.items():
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        page = reverse(f"admin:{name}_changelist")
        yield page
        if shown.search_fields:
            yield f"{page}?{urlencode({'q': 'e'})}"
        first = model._default_manager.order_by("pk").first()
        if first is not None:
            yield reverse(f"admin:{name}_change", args=[first.pk])


def counted(client: Client, page: str) -> int:
    with CaptureQueriesContext(connection) as found:
        answer = client.get(page)
        while answer.status_code == 302:
            answer = client.get(answer.headers["Location"])
    assert answer.status_code == 200, page
    return len(found)


def test_every_page_takes_few_queries_and_no_more_with_more_rows(
    admin_client: Client, redis_url: str
) -> None:
    rows = Rows()
    rows.add(FEW)
    fold_figures()
    opened = list(dict.fromkeys(pages()))
    # Some of these are more than they need be: there is what a process learns once.
    before = {page: counted(admin_client, page) for page in opened}
    rows.add(MANY - FEW)
    fold_figures()
    after = {page: counted(admin_client, page) for page in opened}
    too_many = {page: count for page, count in after.items() if count > MOST}
    growing = {page: (before[page], count) for page, count in after.items() if count > before[page]}
    assert (too_many, growing) == ({}, {})
