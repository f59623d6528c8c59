"""The parts of a token: its header before the signature was checked, its claims after. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.oauth.keys import ALGORITHMS

LONGEST_TOKEN: Final = 16 * 1024
UNREADABLE: Final = "The access token cannot be read"
# Some issuers leave it out. ID tokens are "JWT", too, but are issued for a client and not for us.
TYPES: Final = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})


class TokenRefused(Exception):
    """A token is not accepted; the message is written for its bearer."""


@dataclass(frozen=True, slots=True)
class TokenHeader:
    """How a token says it was signed. Not proven, but enough to look for the key."""

    algorithm: str
    kid: str | None


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """What a good token says. One of `subject` and `client_id` may be empty."""

    subject: str
    client_id: str
    scopes: frozenset[str]
    expires_at: float


def read_header(token: str) -> TokenHeader:
    """The header of a token.

    Raises:
        TokenRefused: it cannot be read, or says what is never accepted.
    """
    if len(token) > LONGEST_TOKEN:
        raise TokenRefused(f"The access token is longer than {LONGEST_TOKEN} characters")
    first = token.partition(".")[0]
    try:
        padded = first + "=" * (-len(first) % 4)
        header = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        raise TokenRefused(UNREADABLE) from None
    if not isinstance(header, dict):
        raise TokenRefused(UNREADABLE)
    algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise TokenRefused("The access token is signed in a way that is not accepted")
    if not isinstance(kind, str) or kind.lower() not in TYPES:
        raise TokenRefused("This kind of token is not an access token")
    if kid is not None and not isinstance(kid, str):
        raise TokenRefused(UNREADABLE)
    return TokenHeader(algorithm, kid)


def read_claims(claims: Mapping[str, Any]) -> VerifiedToken:
    """What the claims of a token with a good signature say.

    Raises:
        TokenRefused: they are not what claims of an access token are.
    """
    expires, issued = _moment(claims, "exp"), _moment(claims, "iat")
    if issued is not None and expires is not None and issued > expires:
        raise TokenRefused("The access token was issued after its end")
    _moment(claims, "nbf")
    subject = _text(claims, "sub")
    client = _text(claims, "client_id") or _text(claims, "azp")
    if not subject and not client:
        raise TokenRefused("The access token does not say who holds it")
    return VerifiedToken(subject, client, _scopes(claims), expires or 0.0)


def _moment(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenRefused(UNREADABLE)
    try:
        return float(value)
    except OverflowError:
        raise TokenRefused(UNREADABLE) from None


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """`scope` as RFC 9068 has it, or `scp`, which other issuers write as a text or a list."""
    value = claims.get("scope") or claims.get("scp")
    if isinstance(value, str):
        return frozenset(value.split())
    if isinstance(value, list):
        return frozenset(item for item in value if isinstance(item, str) and item)
    return frozenset()
