"""The page that shows a new key once, and replacing a key with or without a time to change over."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.doors import RestDoor
from tests.factories import make_client, make_tool, make_toolset
from tests.processes import wait_until
from tests.tools.admin.pages import address, submit, text
from tests.trail import became, trail_of
from tools.guards.keys import hash_key
from tools.models import ApiClient

KEY = re.compile(r"cp_[A-Za-z0-9_-]{43}")


def rotate(client: Client, row: ApiClient, hours: str = "0") -> str:
    """The new key, as the page shows it."""
    page = client.post(address(ApiClient, "rotate", row.pk), {"hours": hours}, follow=True)
    shown: set[str] = set(KEY.findall(text(page)))
    (key,) = shown
    return key


def expect(door: RestDoor, **keys: int) -> None:
    """Each key is answered with its status, once all have heard of the last change."""

    def answered() -> bool:
        return all(
            door.get("/tools", headers={"X-API-Key": key}).status_code == status
            for key, status in keys.items()
        )

    wait_until(answered, what=f"answers {list(keys.values())}")


def test_shown_command_works_as_it_stands(admin_client: Client, door: RestDoor) -> None:
    make_tool(name="echo", source="http_api")
    toolset = make_toolset(slug="all", includes_all=True)
    page = submit(admin_client, address(ApiClient, "add"), name="agent", toolsets=[toolset.pk])
    found = re.search(r'<pre id="key-command"[^>]*>(.*?)</pre>', text(page), re.DOTALL)
    assert found
    words = shlex.split(unescape(found[1]))
    assert words[:3] == ["curl", "-s", "http://testserver/call-tool"]
    headers = dict(
        words[place + 1].split(": ", 1) for place, word in enumerate(words) if word == "-H"
    )
    answer = door.client.post("/call-tool", content=words[-1].encode(), headers=headers)
    assert answer.status_code == 200
    assert answer.json()["success"] is True
    client = ApiClient.objects.get()
    assert f"caller__exact=client%3A{client.pk}" in text(page)


@pytest.mark.django_db
def test_client_without_tools_is_told_to_get_some(admin_client: Client) -> None:
    page = text(submit(admin_client, address(ApiClient, "add"), name="agent"))
    assert "This client sees no tools" in page
    assert "key-command" not in page


def test_old_key_works_for_a_while_and_then_no_more(admin_client: Client, door: RestDoor) -> None:
    row, old = make_client(name="agent")
    new = rotate(admin_client, row, "24")
    expect(door, **{old: 200, new: 200})
    row.refresh_from_db()
    assert row.key_hash == hash_key(new)
    shown = text(admin_client.get(address(ApiClient, "change", row.pk)))
    assert "The key before it works until" in shown

    ApiClient.objects.update(previous_key_until=datetime.now(UTC) - timedelta(seconds=1))
    expect(door, **{old: 401, new: 200})
    assert "works until" not in text(admin_client.get(address(ApiClient, "change", row.pk)))


def test_old_key_is_ended_by_hand(admin_client: Client, door: RestDoor) -> None:
    row, old = make_client(name="agent")
    new = rotate(admin_client, row, "1")
    page = admin_client.post(address(ApiClient, "end_old_key", row.pk), follow=True)
    assert "The old key stops within a second." in text(page)
    expect(door, **{old: 401, new: 200})
    page = admin_client.post(address(ApiClient, "end_old_key", row.pk), follow=True)
    assert "There is no old key that still works." in text(page)


def test_client_that_is_off_has_no_key_that_works(admin_client: Client, door: RestDoor) -> None:
    row, old = make_client(name="agent")
    new = rotate(admin_client, row, "168")
    ApiClient.objects.update(enabled=False)
    expect(door, **{old: 401, new: 401})


def test_revoked_client_is_refused_at_once_with_every_key(
    admin_client: Client, door: RestDoor
) -> None:
    row, old = make_client(name="agent")
    new = rotate(admin_client, row, "24")
    expect(door, **{old: 200, new: 200})
    shown = text(admin_client.get(address(ApiClient, "change", row.pk)))
    assert f'action="{address(ApiClient, "revoke", row.pk)}"' in shown
    assert 'data-confirm="Switch agent off now?' in shown
    page = text(admin_client.post(address(ApiClient, "revoke", row.pk), follow=True))
    assert "agent is off: its keys are refused within a second." in page
    assert "Revoke now" not in page
    expect(door, **{old: 401, new: 401})
    entry = trail_of(row)[-1]
    assert (entry.actor, entry.action) == ("admin", "revoked")
    assert became(entry, "enabled") == (True, False)
    again = admin_client.post(address(ApiClient, "revoke", row.pk), follow=True)
    assert "agent was off already." in text(again)


@pytest.mark.django_db
def test_replacing_again_keeps_the_key_that_programs_hold(admin_client: Client) -> None:
    row, held = make_client(name="agent")
    page = address(ApiClient, "key", row.pk)
    told = "The key before the present one still works"
    assert told not in text(admin_client.get(page))
    rotate(admin_client, row, "24")
    # The new key was not copied, and the page does not show it again.
    lost = text(admin_client.get(page))
    assert told in lost
    assert not KEY.search(lost)
    assert told in text(admin_client.get(address(ApiClient, "change", row.pk)))
    third = rotate(admin_client, row, "168")
    row.refresh_from_db()
    assert (row.key_hash, row.previous_key_hash) == (hash_key(third), hash_key(held))
    assert row.previous_key_until is not None
    assert row.previous_key_until > datetime.now(UTC) + timedelta(days=6)
    rotate(admin_client, row)
    row.refresh_from_db()
    assert not ApiClient.objects.exclude(previous_key_hash=None, previous_key_until=None).exists()
    assert LogEntry.objects.filter(change_message__contains="Replaced the key").count() == 3


@pytest.mark.django_db
def test_key_is_shown_to_nobody_else(admin_client: Client) -> None:
    row, _ = make_client(name="agent")
    other, _ = make_client(name="other")
    sent = admin_client.post(address(ApiClient, "rotate", row.pk))
    cookie = sent.cookies["issued_key"]
    assert (cookie["path"], cookie["httponly"]) == (address(ApiClient, "key", row.pk), True)
    # Whatever the cookie is sent to.
    assert not KEY.search(text(admin_client.get(address(ApiClient, "key", other.pk))))
    admin_client.cookies["issued_key"] = f"{cookie.value}x"
    assert not KEY.search(text(admin_client.get(address(ApiClient, "key", row.pk))))


@pytest.mark.django_db
@pytest.mark.parametrize("hours", ["-1", "9999", "", "x"])
def test_other_times_are_refused(admin_client: Client, hours: str) -> None:
    row, key = make_client()
    answer = admin_client.post(address(ApiClient, "rotate", row.pk), {"hours": hours})
    assert answer.status_code == 404
    row.refresh_from_db()
    assert row.key_hash == hash_key(key)


@pytest.mark.django_db
def test_whoever_may_only_add_clients_sees_the_key_once(client: Client) -> None:
    adder = User.objects.create_user("adder", is_staff=True)
    adder.user_permissions.add(Permission.objects.get(codename="add_apiclient"))
    client.force_login(adder)
    page = text(submit(client, address(ApiClient, "add"), name="New agent"))
    row = ApiClient.objects.get(name="New agent")
    (key,) = set(re.findall(r"cp_[A-Za-z0-9_-]{20,}", page))
    assert row.key_hash == hash_key(key)
    assert client.get(address(ApiClient, "key", row.pk)).status_code == 403


@pytest.mark.django_db
def test_viewer_changes_no_key(client: Client) -> None:
    row, key = make_client()
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_apiclient"))
    client.force_login(viewer)
    for page in ("rotate", "end_old_key", "revoke"):
        assert client.post(address(ApiClient, page, row.pk)).status_code == 403
        assert client.get(address(ApiClient, page, row.pk)).status_code == 405
    assert client.get(address(ApiClient, "key", row.pk)).status_code == 403
    shown = text(client.get(address(ApiClient, "change", row.pk)))
    assert "Replace the key" not in shown
    assert "Revoke now" not in shown
    row.refresh_from_db()
    assert row.key_hash == hash_key(key)
    assert row.enabled
