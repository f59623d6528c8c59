"""A form that is saved while somebody else's change is being written waits for it, and undoes nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections, models, transaction
from django.test import Client

from tests.factories import make_client, make_pipeline, make_service, make_tool
from tests.postgres_waiting import somebody_waits
from tests.processes import wait_until
from tests.tools.admin.pages import address, text, untouched
from tools.guards.keys import hash_key
from tools.models import ApiClient, ApiOperation, ApiService, ServiceConfiguration, Tool
from tools.services.issue_key import replace_key

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("redis_url"),
    # SQLite lets nobody load a row that is about to be changed.
    pytest.mark.on_database("postgresql"),
]


def saved_during(change: Callable[[], Any], row: models.Model, **typed: str) -> Any:
    """What somebody gets who saves the form of `row` while `change` is being written."""
    bob = Client()
    bob.force_login(User.objects.create_superuser("bob", password="x"))
    url = address(type(row), "change", row.pk)
    opened = untouched(bob, url)
    pages: list[Any] = []

    def save() -> None:
        try:
            pages.append(bob.post(url, opened | typed | {"_save": "Save"}))
        finally:
            connections.close_all()

    waiting = Thread(target=save)
    with transaction.atomic():
        change()
        waiting.start()
        wait_until(somebody_waits, what="a form that waits")
    waiting.join(60)
    return pages[0]


def operation() -> ApiOperation:
    service = ApiService(slug="shop", base_url="https://shop.example/v1", prefix="shop_")
    service.save()
    tool = make_tool(name="shop_items", description="Lists items.")
    made = ApiOperation(service=service, tool=tool, method="GET", path="/items")
    made.save()
    return made


def test_who_saves_while_another_change_is_written_does_not_overwrite_it() -> None:
    row = make_service()
    stored = ServiceConfiguration.objects.filter(pk=row.pk)
    page = saved_during(lambda: stored.update(security_rate_limit=123), row, server_timeout="77")
    assert "somebody else has changed" in text(page)
    kept = stored.get()
    assert (kept.security_rate_limit, kept.server_timeout) == (123, row.server_timeout)


def test_a_key_that_is_replaced_while_the_form_of_its_client_waits_stays_replaced() -> None:
    row, leaked = make_client(rate_limit_per_minute=60)
    issued: list[str] = []
    page = saved_during(
        lambda: issued.append(replace_key(ApiClient.objects.get(pk=row.pk)).key),
        row,
        rate_limit_per_minute="70",
    )
    assert page.status_code == 302
    kept = ApiClient.objects.get(pk=row.pk)
    assert kept.rate_limit_per_minute == 70
    assert kept.key_hash == hash_key(issued[0]) != hash_key(leaked)
    assert kept.previous_key_hash is None


def test_what_is_written_into_a_tool_while_the_form_of_its_operation_waits_stays() -> None:
    row = operation()
    tool = Tool._base_manager.filter(pk=row.tool_id)
    page = saved_during(lambda: tool.update(title="Ours"), row, path="/things")
    assert page.status_code == 302
    row.refresh_from_db()
    assert (row.path, row.tool.title) == ("/things", "Ours")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: make_client()[0], "API client"),
        (make_tool, "tool"),
        (operation, "operation"),
        # Its tool goes with it, which its checks and its page look at.
        (make_pipeline, "pipeline"),
    ],
    ids=["client", "tool", "operation", "pipeline"],
)
def test_who_saves_a_row_while_it_is_deleted_is_told_so(
    make: Callable[[], models.Model], named: str
) -> None:
    row = make()
    page = saved_during(type(row)._base_manager.filter(pk=row.pk).delete, row)
    assert page.status_code == 200
    assert f"somebody else has deleted this {named}." in text(page)
    assert not type(row)._base_manager.exists()


def test_a_tool_that_is_described_anew_while_its_pipeline_is_saved_stays_so() -> None:
    row = make_pipeline()
    tool = Tool.objects.filter(pk=row.tool_id)
    page = saved_during(lambda: tool.update(title="New words"), row, timeout_seconds="20")
    assert page.status_code == 302
    assert tool.values_list("title", "timeout_seconds").get() == ("New words", 20)
