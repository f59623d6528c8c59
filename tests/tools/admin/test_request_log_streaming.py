"""Exports through the real door: they leave while they are made, and a reader who goes away holds nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.doors import RestDoor
from tests.processes import wait_until
from tests.tools.log_rows import row
from tools.admin.request_log import export
from tools.models import ToolRequest
from tools.selectors.request_log import Cursor, Page, Way, stream

EXPORT = "/admin/tools/toolrequest/export/?format=jsonl"
SECONDS = 20.0


@pytest.fixture
def cookies(transactional_db: None) -> dict[str, str]:
    """Of somebody who is logged in; the log has some portions of calls."""
    ToolRequest.objects.bulk_create(row() for _ in range(1_203))
    person = User.objects.create_superuser("admin")
    client = Client()
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    return {"sessionid": client.cookies["sessionid"].value}


def test_the_first_calls_arrive_before_the_last_are_read(
    door: RestDoor, cookies: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived = threading.Event()

    def halting(way: Way, place: Cursor | None = None) -> Iterator[Page]:
        portions = stream(way, place)
        yield next(portions)
        assert arrived.wait(SECONDS), "nothing arrived while the file was being made"
        yield from portions

    monkeypatch.setattr(export, "stream", halting)
    with door.client.stream("GET", EXPORT, cookies=cookies) as answer:
        assert answer.status_code == 200
        parts = answer.iter_bytes()
        received = next(parts)
        arrived.set()
        received += b"".join(parts)
    assert received.count(b"\n") == 1_203


def test_readers_who_go_away_give_their_places_back(
    door: RestDoor, cookies: dict[str, str]
) -> None:
    for _ in range(export.MOST_AT_ONCE + 2):
        with door.client.stream("GET", EXPORT, cookies=cookies) as answer:
            assert answer.status_code == 200
            next(answer.iter_bytes())
        wait_until(_free, what="the places of exports")


def _free() -> bool:
    return export._places._value == export.MOST_AT_ONCE
