"""Stage 1: credentials to caller, from the catalogue and the issuer's keys in memory."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tools.contracts import Caller, CallerKind, Credentials
from tools.errors import ControlPlaneError, ErrorDetails, PathNotFound, Unauthenticated
from tools.guards.keys import hash_key
from tools.oauth.current import looks_like_token, verifier
from tools.selectors import Catalogue

if TYPE_CHECKING:
    from tools.oauth.claims import VerifiedToken
    from tools.oauth.verifier import TokenVerifier

logger = logging.getLogger(__name__)

WARN_EVERY: Final = 10.0
MOST_WARNED: Final = 1000
# What the journal has room for, beside the kind.
LONGEST_HOLDER: Final = 120
_warned: dict[str, float] = {}


async def prepare(credentials: Credentials) -> None:
    """Fetch the issuer's keys where a token names one that is not here; `identify` needs it in memory.

    Returns at once in all other cases, and never raises: what is missing shows in `identify`.
    """
    if credentials.secret and looks_like_token(credentials.secret):
        tokens = verifier()
        if tokens is not None and tokens.lacks_key(credentials.secret):
            await tokens.load_keys()


def identify(credentials: Credentials, catalogue: Catalogue) -> Caller:
    """Who presented `credentials`, seeing no more than the toolset it asked for.

    Raises:
        Unauthenticated: nothing where a key is needed, a key nobody holds, a bad token.
        InsufficientScope: a good token without a scope it would need.
        ServiceUnavailable: the issuer of a token cannot be asked for its keys.
        PathNotFound: there is no such toolset, or none for this caller.
    """
    caller = _known(credentials, catalogue)
    asked = credentials.toolset
    if not asked:
        return caller
    granted = caller.toolsets is None or asked in caller.toolsets
    if not granted or asked not in catalogue.toolsets:
        _ask_for_scope(caller, asked, catalogue)
        raise PathNotFound(
            f"There is no toolset {asked[:64]} here",
            ErrorDetails(suggestion="Use the address without a toolset, or ask the operator"),
        )
    return replace(caller, toolsets=frozenset({asked}))


def _known(credentials: Credentials, catalogue: Catalogue) -> Caller:
    settings = catalogue.settings
    if credentials.kind in {CallerKind.ADMIN, CallerKind.LOCAL}:
        # The admin's session and the operator's own shell have proved who they are elsewhere.
        return Caller(
            kind=credentials.kind,
            identifier=f"{credentials.kind}:{credentials.name}",
            name=credentials.name,
            rate_per_minute=settings.security_rate_limit,
        )
    tokens = verifier()
    if credentials.secret:
        if tokens is not None and looks_like_token(credentials.secret):
            return _holder(credentials, tokens, catalogue)
        digest = hash_key(credentials.secret)
        caller = catalogue.callers.get(digest) or _leaving(digest, catalogue)
        if caller is None:
            note_refusal(credentials)
            raise _refusal("The API key is not known or has been switched off", "invalid_token")
        return caller
    if tokens is not None:
        # Clients learn from this refusal where to get a token, so nobody is let in without one.
        note_refusal(credentials)
        raise tokens.refusal(
            "An access token or an API key is required",
            scopes=_scopes_for(credentials.toolset, tokens, catalogue),
        )
    if settings.security_api_keys_enabled:
        note_refusal(credentials)
        raise _refusal("An API key is required")
    return Caller(
        kind=CallerKind.ANONYMOUS,
        identifier=f"address:{credentials.address}",
        name=credentials.address or "anonymous",
        rate_per_minute=settings.security_rate_limit,
    )


def _leaving(digest: str, catalogue: Catalogue) -> Caller | None:
    """Whose key this was until lately, while it may still be used."""
    caller, until = catalogue.leaving.get(digest, (None, 0.0))
    return caller if time.time() < until else None


def _holder(credentials: Credentials, tokens: TokenVerifier, catalogue: Catalogue) -> Caller:
    """Who a token was issued to, with the toolsets whose scopes it carries."""
    try:
        token = tokens.verify(credentials.secret)
    except ControlPlaneError as refusal:
        note_refusal(credentials, why=refusal.message)
        raise
    return Caller(
        kind=CallerKind.OAUTH,
        identifier=f"{CallerKind.OAUTH}:{_named(token)}",
        name=_named(token),
        rate_per_minute=catalogue.settings.security_rate_limit,
        toolsets=frozenset(
            slug
            for slug, spec in catalogue.toolsets.items()
            if spec.oauth_scope and spec.oauth_scope in token.scopes
        ),
    )


def _named(token: VerifiedToken) -> str:
    """The holder of a token, in words that fit everywhere and that no two holders share."""
    name = token.subject or f"client:{token.client_id}"
    if len(name) <= LONGEST_HOLDER and name.isprintable():
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass"))
    return f"sha256:{digest.hexdigest()}"


def _ask_for_scope(caller: Caller, toolset: str, catalogue: Catalogue) -> None:
    """Refuse a token that only lacks the scope of a toolset in a way that lets the client get it.

    This gives nothing away: the metadata document lists the scopes of all toolsets that have one.
    """
    tokens = verifier()
    if caller.kind is CallerKind.OAUTH and tokens is not None:
        scopes = _scopes_for(toolset, tokens, catalogue)
        if scopes:
            raise tokens.insufficient(scopes)


def _scopes_for(toolset: str, tokens: TokenVerifier, catalogue: Catalogue) -> tuple[str, ...]:
    """What a token for one toolset must carry; nothing where no scope grants it."""
    spec = catalogue.toolsets.get(toolset)
    if spec is None or not spec.oauth_scope:
        return ()
    return (*tokens.settings.required_scopes, spec.oauth_scope)


def note_refusal(
    credentials: Credentials, clock: Callable[[], float] = time.monotonic, why: str = ""
) -> None:
    """Log that somebody was refused: once in a while per address, so that guessing cannot flood."""
    last = _warned.get(credentials.address)
    if last is not None and clock() - last < WARN_EVERY:
        return
    if len(_warned) >= MOST_WARNED:
        _warned.clear()
    _warned[credentials.address] = clock()
    presented = "a wrong API key" if credentials.secret else "no API key"
    if why:
        presented = f"an access token: {why}"
    logger.warning("Refused a caller at %s with %s", credentials.address or "unknown", presented)


def _refusal(message: str, error: str = "") -> Unauthenticated:
    tokens = verifier()
    if tokens is not None:
        return tokens.refusal(message, error)
    return Unauthenticated(
        message,
        ErrorDetails(
            suggestion="Send a valid key as 'Authorization: Bearer <key>' or 'X-API-Key: <key>'"
        ),
    )
