"""Secrets at rest."""

from __future__ import annotations

from typing import Any

import pytest

from tools.vault import VaultFault, seal, unseal

SECRET = "sk-live-äöü-0123456789"


def test_a_sealed_secret_opens_again_and_is_not_readable_before() -> None:
    # F4-04
    token = seal(SECRET)
    assert token.isascii()
    assert "0123456789" not in token
    assert unseal(token) == SECRET


def test_the_same_secret_is_never_sealed_to_the_same_token() -> None:
    assert seal(SECRET) != seal(SECRET)


def test_nothing_is_sealed_to_nothing() -> None:
    assert seal("") == ""
    assert unseal("") == ""


def test_a_secret_outlives_a_rotated_key(settings: Any) -> None:
    token = seal(SECRET)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the next key of this deployment"
    assert unseal(token) == SECRET
    settings.SECRET_KEY_FALLBACKS = []
    assert unseal(seal(SECRET)) == SECRET


def test_a_lost_key_is_told_without_a_word_of_the_token(settings: Any) -> None:
    token = seal(SECRET)
    settings.SECRET_KEY = "another key"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(VaultFault, match="SECRET_KEY_FALLBACKS") as told:
        unseal(token)
    assert token not in str(told.value)


@pytest.mark.parametrize("token", ["no token", "gAAAAA", "ünïcode"])
def test_what_was_never_sealed_does_not_open(token: str) -> None:
    with pytest.raises(VaultFault):
        unseal(token)


def test_a_changed_token_does_not_open() -> None:
    token = seal(SECRET)
    changed = token[:-6] + ("A" if token[-6] != "A" else "B") + token[-5:]
    with pytest.raises(VaultFault):
        unseal(changed)
