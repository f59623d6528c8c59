"""Issuing keys: shown once, kept as a digest, replaceable."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import make_client, make_toolset
from tools.guards.keys import hash_key
from tools.models import ApiClient
from tools.services.issue_key import IssueRefused, issue_key, new_key, replace_key

pytestmark = pytest.mark.django_db


def test_new_key_is_256_random_bits_with_its_digest_and_hint() -> None:
    key, digest, hint = new_key()
    assert re.fullmatch(r"cp_[A-Za-z0-9_-]{43}", key)
    assert digest == hashlib.sha256(key.encode()).hexdigest() == hash_key(key)
    assert hint == key[:8]
    assert new_key()[0] != key


def test_any_text_a_caller_may_send_has_a_digest() -> None:
    for text in ("", "cp_x", "schlüssel", "\ud800", "\0"):
        assert re.fullmatch(r"[0-9a-f]{64}", hash_key(text))


def test_issued_client_is_granted_what_was_asked_and_keeps_only_the_digest() -> None:
    # F0-26 C20
    make_toolset(slug="rag")
    make_toolset(slug="all", includes_all=True)
    issued = issue_key("agent", toolsets=["rag", "rag"], rate_limit_per_minute=60)
    client = ApiClient.objects.get(name="agent")
    assert client.key_hash == hash_key(issued.key)
    assert [toolset.slug for toolset in client.toolsets.all()] == ["rag"]
    assert (client.rate_limit_per_minute, client.enabled, client.last_used_at) == (60, True, None)
    stored = [str(value) for value in ApiClient.objects.values_list().get()]
    assert not any(issued.key in value for value in stored)
    assert issued.key not in repr(issued)


def test_existing_client_keeps_its_key_unless_replacing_is_asked_for() -> None:
    client, key = make_client(name="agent")
    with pytest.raises(IssueRefused, match="exists"):
        issue_key("agent")
    client.refresh_from_db()
    assert client.key_hash == hash_key(key)


def test_replacing_changes_the_key_and_leaves_the_rest() -> None:
    toolset = make_toolset()
    client, old = make_client(
        name="agent", toolsets=[toolset], rate_limit_per_minute=50, enabled=False
    )
    issued = issue_key("agent", replace=True)
    client.refresh_from_db()
    assert issued.key != old
    assert client.key_hash == hash_key(issued.key)
    assert (list(client.toolsets.all()), client.rate_limit_per_minute, client.enabled) == (
        [toolset],
        50,
        False,
    )


def test_replacing_may_change_grants_and_limit_too() -> None:
    client, _ = make_client(name="agent", toolsets=[make_toolset()], rate_limit_per_minute=50)
    make_toolset(slug="rag")
    issue_key("agent", toolsets=["rag"], rate_limit_per_minute=99, replace=True)
    client.refresh_from_db()
    assert [toolset.slug for toolset in client.toolsets.all()] == ["rag"]
    assert client.rate_limit_per_minute == 99


@pytest.mark.parametrize(
    ("name", "toolsets", "rate", "replace", "told"),
    [
        ("nobody", [], None, True, "no client named 'nobody'"),
        ("agent", ["rag", "nope"], None, False, "Unknown toolsets: nope. Known: rag"),
        ("agent", [], 9, False, "greater than or equal to 10"),
        (" ", [], None, False, "one line of text"),
    ],
)
def test_refusal_says_what_to_change_and_saves_nothing(
    name: str, toolsets: list[str], rate: int | None, replace: bool, told: str
) -> None:
    make_toolset(slug="rag")
    with pytest.raises(IssueRefused, match=re.escape(told)):
        issue_key(name, toolsets=toolsets, rate_limit_per_minute=rate, replace=replace)
    assert not ApiClient.objects.exists()


def test_client_that_cannot_be_saved_gets_no_key() -> None:
    with pytest.raises(IssueRefused):
        replace_key(ApiClient(name=""))


def test_replacing_undoes_nothing_that_happened_since_the_client_was_read() -> None:
    client, held = make_client(name="agent")
    first, second = (ApiClient.objects.get(pk=client.pk) for _ in range(2))
    ApiClient.objects.update(enabled=False, rate_limit_per_minute=70)
    day = timedelta(days=1)
    lost, shown = replace_key(first, old_for=day).key, replace_key(second, old_for=day).key
    client.refresh_from_db()
    assert (client.enabled, client.rate_limit_per_minute) == (False, 70)
    assert (client.key_hash, client.previous_key_hash) == (hash_key(shown), hash_key(held))
    assert lost not in (held, shown)
    client.delete()
    with pytest.raises(IssueRefused, match="any more"):
        replace_key(second)
    assert not ApiClient.objects.exists()


def test_old_key_that_has_ended_is_not_brought_back() -> None:
    client, _ = make_client(name="agent")
    present = replace_key(client, old_for=timedelta(hours=1)).key
    ApiClient.objects.update(previous_key_until=datetime.now(UTC) - timedelta(seconds=1))
    issue_key("agent", replace=True, old_for=timedelta(hours=1))
    client.refresh_from_db()
    assert client.previous_key_hash == hash_key(present)
