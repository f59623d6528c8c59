"""A form that is saved while somebody else's change is being written waits for it, and is refused."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.test import Client

from tests.factories import make_service
from tests.postgres_waiting import somebody_waits
from tests.processes import wait_until
from tests.tools.admin.pages import address, text, untouched
from tools.models import ServiceConfiguration

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


@pytest.mark.on_database("postgresql")
def test_who_saves_while_another_change_is_written_does_not_overwrite_it() -> None:
    row = make_service()
    url = address(ServiceConfiguration, "change", row.pk)
    bob = Client()
    bob.force_login(User.objects.create_superuser("bob", password="x"))
    opened = untouched(bob, url)
    pages: list[Any] = []

    def save() -> None:
        try:
            pages.append(bob.post(url, opened | {"server_timeout": "77", "_save": "Save"}))
        finally:
            connections.close_all()

    waiting = Thread(target=save)
    with transaction.atomic():
        ServiceConfiguration.objects.filter(pk=row.pk).update(security_rate_limit=123)
        waiting.start()
        wait_until(somebody_waits, what="a form that waits")
    waiting.join(60)
    assert "somebody else has changed" in text(pages[0])
    stored = ServiceConfiguration.objects.get()
    assert (stored.security_rate_limit, stored.server_timeout) == (123, row.server_timeout)
