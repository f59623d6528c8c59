"""`manage.py issue_key`."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_client, make_toolset
from tools.guards.keys import hash_key
from tools.models import ApiClient

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("issue_key", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_key_is_printed_with_how_to_use_it() -> None:
    # F0-26
    make_toolset(slug="all")
    out, err = run("agent", "--toolset", "all", "--rate-limit", "60")
    match = re.search(r"^ {4}(cp_\S+)$", out, re.MULTILINE)
    assert match
    key = match.group(1)
    assert f"Authorization: Bearer {key}" in out
    assert f"X-API-Key: {key}" in out
    assert "It may use the tools of: all" in out
    assert err == ""
    client = ApiClient.objects.get(name="agent")
    assert (client.key_hash, client.rate_limit_per_minute) == (hash_key(key), 60)


def test_client_without_toolsets_is_warned_about() -> None:
    _, err = run("agent")
    assert "no tools yet" in err


def test_replace_gives_a_new_key() -> None:
    client, old = make_client(name="agent")
    out, _ = run("agent", "--replace")
    client.refresh_from_db()
    assert client.key_hash != hash_key(old)
    assert old not in out


def test_refusal_is_told_without_a_traceback() -> None:
    with pytest.raises(CommandError, match="Unknown toolsets: nope"):
        run("agent", "--toolset", "nope")
    assert not ApiClient.objects.exists()


def test_right_to_manage_corpora_is_given_kept_and_taken() -> None:
    run("agent")
    assert not ApiClient.objects.get().manages_corpora
    for flags, has in (
        (["--manages-corpora"], True),
        ([], True),
        (["--no-manages-corpora"], False),
    ):
        run("agent", "--replace", *flags)
        assert ApiClient.objects.get().manages_corpora is has


def test_replaced_key_goes_on_working_for_as_long_as_asked() -> None:
    row, old = make_client(name="agent")
    run("agent", "--replace", "--old-key-hours", "5")
    row.refresh_from_db()
    assert row.previous_key_hash == hash_key(old)
    with pytest.raises(CommandError, match="at most 30 days"):
        run("agent", "--replace", "--old-key-hours", "721")
