"""API clients in the admin."""

from __future__ import annotations

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.test import Client

from tests.factories import make_client, make_toolset
from tests.tools.admin.pages import act, address, submit, text, untouched
from tools.guards.keys import hash_key
from tools.models import ApiClient, CatalogState

pytestmark = pytest.mark.django_db

KEY = re.compile(r"cp_[A-Za-z0-9_-]{43}")


def test_key_is_shown_once_when_a_client_is_added(admin_client: Client) -> None:
    # F0-26 C20
    toolset = make_toolset(slug="rag")
    response = submit(
        admin_client,
        address(ApiClient, "add"),
        name="agent",
        toolsets=[toolset.pk],
        rate_limit_per_minute="60",
    )
    (key,) = set(KEY.findall(text(response)))
    assert f">{key}</code>" in text(response)
    assert "it is not shown again" in text(response)
    client = ApiClient.objects.get()
    assert response.redirect_chain[-1][0] == address(ApiClient, "key", client.pk)
    assert client.key_hash == hash_key(key)
    assert (client.name, list(client.toolsets.all()), client.rate_limit_per_minute) == (
        "agent",
        [toolset],
        60,
    )
    for page in ("key", "change"):
        shown = text(admin_client.get(address(ApiClient, page, client.pk)))
        assert not KEY.search(shown)
    assert not KEY.search(text(admin_client.get(address(ApiClient, "changelist"))))
    again = text(admin_client.get(address(ApiClient, "key", client.pk)))
    assert "shown once and is kept nowhere" in again


def test_key_is_stored_nowhere_on_the_server(admin_client: Client) -> None:
    # F0-26 C20
    response = submit(admin_client, address(ApiClient, "add"), name="agent")
    (key,) = set(KEY.findall(text(response)))
    stored = [str(value) for row in ApiClient.objects.values() for value in row.values()]
    stored += [str(session.get_decoded()) for session in Session.objects.all()]
    stored += [f"{entry} {entry.change_message}" for entry in LogEntry.objects.all()]
    assert not [value for value in stored if key in value]


def test_digest_is_never_shown(admin_client: Client) -> None:
    client, key = make_client(name="agent")
    for page in (address(ApiClient, "changelist"), address(ApiClient, "change", client.pk)):
        shown = text(admin_client.get(page))
        assert client.key_hash not in shown
        assert client.key_hint in shown
        assert key not in shown


def test_changing_a_client_keeps_its_key(admin_client: Client) -> None:
    client, key = make_client(name="agent")
    url = address(ApiClient, "change", client.pk)
    response = submit(
        admin_client, url, name="chat agent", rate_limit_per_minute="10", enabled=None
    )
    assert not KEY.search(text(response))
    client.refresh_from_db()
    assert (client.name, client.rate_limit_per_minute, client.enabled) == ("chat agent", 10, False)
    assert client.key_hash == hash_key(key)
    assert "key_hash" not in untouched(admin_client, url)


def test_replaced_keys_are_shown_once_and_the_old_ones_are_gone(admin_client: Client) -> None:
    (first, old), (second, _), (third, kept) = (make_client() for _ in range(3))
    version = CatalogState.objects.get().version
    shown = KEY.findall(text(act(admin_client, ApiClient, "replace_keys", first, second)))
    assert len(set(shown)) == 2
    digests = {hash_key(key) for key in shown} | {hash_key(kept)}
    assert set(ApiClient.objects.values_list("key_hash", flat=True)) == digests
    assert hash_key(old) not in digests
    assert CatalogState.objects.get().version > version
    assert LogEntry.objects.filter(change_message__contains="Replaced the key").count() == 2
    third.refresh_from_db()
    assert third.key_hash == hash_key(kept)


def test_keys_on_their_way_to_the_page_are_not_put_into_the_session(admin_client: Client) -> None:
    # F0-26 C20
    names = ["".join(chr(0x4E00 + 97 * row + column) for column in range(100)) for row in range(3)]
    rows = [make_client(name=name)[0] for name in names]
    data = {"action": "replace_keys", "_selected_action": [row.pk for row in rows]}
    response = admin_client.post(address(ApiClient, "changelist"), data)
    assert response.cookies["messages"]["httponly"]
    assert not [row for row in Session.objects.all() if "_messages" in row.get_decoded()]
    shown = text(admin_client.get(address(ApiClient, "changelist")))
    assert len(KEY.findall(shown)) == 3


def test_more_keys_than_the_page_can_show_are_not_replaced(admin_client: Client) -> None:
    made = [make_client() for _ in range(4)]
    shown = text(act(admin_client, ApiClient, "replace_keys", *(row for row, _ in made)))
    assert "Replace at most 3 keys at once" in shown
    digests = set(ApiClient.objects.values_list("key_hash", flat=True))
    assert digests == {hash_key(key) for _, key in made}


def test_clients_are_switched_in_bulk(admin_client: Client) -> None:
    clients = [make_client()[0] for _ in range(2)]
    version = CatalogState.objects.get().version
    assert "1 client disabled." in text(act(admin_client, ApiClient, "disable", clients[0]))
    assert [row.enabled for row in ApiClient.objects.order_by("pk")] == [False, True]
    assert "2 clients enabled." in text(act(admin_client, ApiClient, "enable", *clients))
    assert all(row.enabled for row in ApiClient.objects.all())
    assert CatalogState.objects.get().version > version


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("rate_limit_per_minute", "9", "greater than or equal to 10"),
        ("name", "", "This field is required"),
        ("name", "taken", "already exists"),
    ],
)
def test_wrong_value_is_told_and_no_key_is_made(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    # S3-035
    make_client(name="taken")
    response = submit(admin_client, address(ApiClient, "add"), **{"name": "agent", field: value})
    assert told in text(response)
    assert not KEY.search(text(response))
    assert ApiClient.objects.count() == 1


def test_list_tells_grants_and_limits(admin_client: Client, redis_url: str) -> None:
    make_client(name="one", toolsets=[make_toolset(slug="rag")], rate_limit_per_minute=77)
    make_client(name="two")
    listed = text(admin_client.get(address(ApiClient, "changelist")))
    for shown in ("rag", "0 of 77", "none: sees no tools", "the service&#x27;s limit"):
        assert shown in listed


def test_viewer_cannot_replace_keys(client: Client) -> None:
    row, key = make_client()
    viewer = User.objects.create_user("viewer", password="x", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_apiclient"))
    client.force_login(viewer)
    act(client, ApiClient, "replace_keys", row)
    row.refresh_from_db()
    assert row.key_hash == hash_key(key)
