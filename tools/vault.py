"""Secrets at rest: encrypted with a key derived from Django's SECRET_KEY.

What was sealed under an earlier key can be opened for as long as that key is listed in
SECRET_KEY_FALLBACKS; sealing always uses the current one.
"""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# Part of every key, so that no other use of SECRET_KEY yields the same one.
PURPOSE: Final = b"mcp-control-plane:secrets-at-rest:1"


class VaultFault(Exception):
    """A sealed secret cannot be opened. The message says what to do and holds nothing of it."""


def seal(text: str) -> str:
    """`text` encrypted, as it may be stored. An empty text stays empty."""
    return _vault(_keys()).encrypt(text.encode()).decode("ascii") if text else ""


def unseal(token: str) -> str:
    """The text that was sealed.

    Raises:
        VaultFault: it was sealed under a key that is not known here, or was changed since.
    """
    if not token:
        return ""
    try:
        return _vault(_keys()).decrypt(token.encode()).decode()
    except InvalidToken:
        raise VaultFault(
            "The stored secret cannot be opened: SECRET_KEY has changed since it was saved. "
            "List the earlier key in SECRET_KEY_FALLBACKS, or enter the secret again"
        ) from None


def _keys() -> tuple[str | bytes, ...]:
    from django.conf import settings

    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@lru_cache(maxsize=4)
def _vault(keys: tuple[str | bytes, ...]) -> MultiFernet:
    return MultiFernet([_fernet(key) for key in keys])


def _fernet(key: str | bytes) -> Fernet:
    material = key.encode() if isinstance(key, str) else key
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(material)
    return Fernet(base64.urlsafe_b64encode(derived))
