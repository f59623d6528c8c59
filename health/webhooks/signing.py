"""The signature of an event, as the Standard Webhooks specification has it. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Final

PREFIX: Final = "whsec_"
# As the specification asks.
FEWEST_BYTES: Final = 24
MOST_BYTES: Final = 64
USUAL_BYTES: Final = 32


def new_secret() -> str:
    """A key nobody can guess, as receivers take it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(USUAL_BYTES)).decode()


def secret_faults(secret: str) -> list[str]:
    """What keeps a text from being a key, without a word of it."""
    try:
        size = len(_key(secret))
    except ValueError:
        return [f"Must be {PREFIX} and Base64."]
    if not FEWEST_BYTES <= size <= MOST_BYTES:
        return [f"Must hold {FEWEST_BYTES} to {MOST_BYTES} bytes in Base64."]
    return []


def signed_headers(secret: str, event_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers that prove to the receiver who sent `body`, and when.

    Raises:
        ValueError: the secret is none.
    """
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{_signature(secret, event_id, timestamp, body)}",
    }


def _signature(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    signed = f"{event_id}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest()).decode()


def _key(secret: str) -> bytes:
    if not secret.startswith(PREFIX):
        raise ValueError("it has no prefix")
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("it is not Base64") from None
