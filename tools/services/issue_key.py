"""Gives a program its API key. The key leaves this module once and is kept as a digest only."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from django.core.exceptions import ValidationError
from django.db import transaction

from tools.guards.keys import hash_key
from tools.models import ApiClient, Toolset

PREFIX = "cp_"
HINT_LENGTH = 8
AT_ONCE: Final = timedelta(0)
LONGEST_GRACE: Final = timedelta(days=30)
KEY_FIELDS: Final = ("key_hash", "key_hint", "previous_key_hash", "previous_key_until")


class IssueRefused(Exception):
    """No key was issued; the message says what to change."""


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A client and its key, the only time the key is known."""

    client: ApiClient
    key: str = field(repr=False)


def new_key() -> tuple[str, str, str]:
    """A key nobody can guess, the digest that is stored for it, and a hint to recognise it by."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, hash_key(key), key[:HINT_LENGTH]


def issue_key(
    client_name: str,
    *,
    toolsets: Iterable[str] = (),
    rate_limit_per_minute: int | None = None,
    manages_corpora: bool | None = None,
    replace: bool = False,
    old_for: timedelta = AT_ONCE,
) -> IssuedKey:
    """Create a client with a key or, with `replace`, give an existing one a new key.

    When replacing, an empty `toolsets`, a `rate_limit_per_minute` and a `manages_corpora` of None
    leave what the client has; the old key stops working as soon as processes see the change, within
    a second, or `old_for` later (see `replace_key`).

    Raises:
        IssueRefused: the client exists (without `replace`), is unknown (with it), or a value is wrong.
    """
    with transaction.atomic():
        granted = _toolsets(toolsets)
        client = ApiClient.objects.select_for_update().filter(name=client_name).first()
        if client is not None and not replace:
            raise IssueRefused(
                f"A client named {client_name!r} exists; replace its key with --replace"
            )
        if client is None and replace:
            raise IssueRefused(f"There is no client named {client_name!r}")
        client = client or ApiClient(name=client_name)
        if rate_limit_per_minute is not None:
            client.rate_limit_per_minute = rate_limit_per_minute
        if manages_corpora is not None:
            client.manages_corpora = manages_corpora
        issued = _give_key(client, old_for)
        if granted:
            client.toolsets.set(granted)
        return issued


def replace_key(client: ApiClient, *, old_for: timedelta = AT_ONCE) -> IssuedKey:
    """Give `client` a new key in place of the one it has, and save it; of one that exists, only its key.

    The old key works for `old_for` longer. That is the key before the present one for as long as it
    still works: programs are changing over from it, and the present one may have been lost.

    Raises:
        IssueRefused: when the client cannot be saved, or is gone.
    """
    if client._state.adding:
        return _give_key(client, old_for)
    with transaction.atomic():
        try:
            # As it is now: somebody may have switched it off, or replaced its key, since it was read.
            client.refresh_from_db(from_queryset=ApiClient.objects.select_for_update())
        except ApiClient.DoesNotExist:
            raise IssueRefused(f"There is no client named {client.name!r} any more") from None
        return _give_key(client, old_for, KEY_FIELDS)


def old_key_until(client: ApiClient) -> datetime | None:
    """Until when the key before the present one works; None when it does not."""
    until = client.previous_key_until
    return until if until is not None and until > datetime.now(UTC) else None


def end_old_key(client: ApiClient) -> bool:
    """Let the key before the present one work no longer; whether there was one."""
    kept = ApiClient.objects.filter(pk=client.pk, previous_key_hash__isnull=False)
    return bool(kept.update(previous_key_hash=None, previous_key_until=None))


def switch_off(client: ApiClient) -> bool:
    """Let the client call no more, with whichever key; whether it could until now."""
    return bool(ApiClient.objects.filter(pk=client.pk, enabled=True).update(enabled=False))


def _give_key(
    client: ApiClient, old_for: timedelta, fields: Iterable[str] | None = None
) -> IssuedKey:
    if old_for > LONGEST_GRACE:
        raise IssueRefused(f"An old key works for at most {LONGEST_GRACE.days} days")
    old = client.previous_key_hash if old_key_until(client) else client.key_hash
    client.previous_key_hash = client.previous_key_until = None
    if old and old_for > AT_ONCE:
        client.previous_key_hash = old
        client.previous_key_until = datetime.now(UTC) + old_for
    key, client.key_hash, client.key_hint = new_key()
    try:
        client.save(update_fields=fields)
    except ValidationError as fault:
        raise IssueRefused("; ".join(fault.messages)) from fault
    return IssuedKey(client=client, key=key)


def _toolsets(slugs: Iterable[str]) -> list[Toolset]:
    wanted = list(dict.fromkeys(slugs))
    found = list(Toolset.objects.filter(slug__in=wanted))
    unknown = sorted(set(wanted) - {toolset.slug for toolset in found})
    if unknown:
        known = ", ".join(Toolset.objects.values_list("slug", flat=True)) or "none yet"
        raise IssueRefused(f"Unknown toolsets: {', '.join(unknown)}. Known: {known}")
    return found
