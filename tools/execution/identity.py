"""Stage 1: credentials to caller, from the catalogue in memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from tools.contracts import Caller, CallerKind, Credentials
from tools.errors import ErrorDetails, Unauthenticated
from tools.guards.keys import hash_key
from tools.selectors import Catalogue

logger = logging.getLogger(__name__)

WARN_EVERY: Final = 10.0
MOST_WARNED: Final = 1000
_warned: dict[str, float] = {}


def identify(credentials: Credentials, catalogue: Catalogue) -> Caller:
    """Who presented `credentials`.

    Raises:
        Unauthenticated: no key where one is needed, or a key nobody holds.
    """
    settings = catalogue.settings
    if credentials.kind in {CallerKind.ADMIN, CallerKind.LOCAL}:
        # The admin's session and the operator's own shell have proved who they are elsewhere.
        return Caller(
            kind=credentials.kind,
            identifier=f"{credentials.kind}:{credentials.name}",
            name=credentials.name,
            rate_per_minute=settings.security_rate_limit,
        )
    if credentials.secret:
        caller = catalogue.callers.get(hash_key(credentials.secret))
        if caller is None:
            note_refusal(credentials)
            raise _refusal("The API key is not known or has been switched off")
        return caller
    if settings.security_api_keys_enabled:
        note_refusal(credentials)
        raise _refusal("An API key is required")
    return Caller(
        kind=CallerKind.ANONYMOUS,
        identifier=f"address:{credentials.address}",
        name=credentials.address or "anonymous",
        rate_per_minute=settings.security_rate_limit,
    )


def note_refusal(credentials: Credentials, clock: Callable[[], float] = time.monotonic) -> None:
    """Log that somebody was refused: once in a while per address, so that guessing cannot flood."""
    last = _warned.get(credentials.address)
    if last is not None and clock() - last < WARN_EVERY:
        return
    if len(_warned) >= MOST_WARNED:
        _warned.clear()
    _warned[credentials.address] = clock()
    presented = "a wrong API key" if credentials.secret else "no API key"
    logger.warning("Refused a caller at %s with %s", credentials.address or "unknown", presented)


def _refusal(message: str) -> Unauthenticated:
    return Unauthenticated(
        message,
        ErrorDetails(
            suggestion="Send a valid key as 'Authorization: Bearer <key>' or 'X-API-Key: <key>'"
        ),
    )
