"""An access token to who holds it and what it was granted, checked against keys in memory."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import jwt

from tools.conf import OAuthSettings
from tools.errors import ErrorDetails, InsufficientScope, ServiceUnavailable, Unauthenticated
from tools.oauth.claims import UNREADABLE, TokenRefused, VerifiedToken, read_claims, read_header
from tools.oauth.jwks import KeyCache, KeysUnavailable
from tools.oauth.metadata import challenge

LEEWAY: Final = 30
MOST_REMEMBERED: Final = 1024
REMEMBERED_FOR: Final = 60.0
MOST_KEYS_TRIED: Final = 8
RETRY_AFTER: Final = 5
REASONS: Final = (
    (jwt.ExpiredSignatureError, "The access token has expired"),
    (jwt.ImmatureSignatureError, "The access token is not valid yet"),
    (jwt.InvalidAudienceError, "The access token was issued for another service"),
    (jwt.InvalidIssuerError, "The access token comes from another issuer"),
    (jwt.InvalidSignatureError, "The signature of the access token is wrong"),
    (jwt.MissingRequiredClaimError, "The access token lacks a claim it must have"),
)


class TokenVerifier:
    """Checks the tokens of one issuer. Good ones are remembered for a minute, by their digest."""

    def __init__(
        self, settings: OAuthSettings, keys: KeyCache, clock: Callable[[], float] = time.time
    ) -> None:
        self.settings = settings
        self._keys = keys
        self._clock = clock
        self._audiences = same_resource(settings.audience)
        self._known: OrderedDict[bytes, tuple[float, VerifiedToken]] = OrderedDict()
        self._known_under = keys.version

    def verify(self, token: str) -> VerifiedToken:
        """What `token` says, once everything about it was found right.

        Raises:
            Unauthenticated: it is not a good token for this service.
            InsufficientScope: it is, but lacks a scope that every token must carry.
            ServiceUnavailable: the issuer cannot be asked for the key it names.
        """
        digest = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        known = self._remembered(digest)
        if known is not None:
            return known
        try:
            verified = read_claims(self._signed(token))
        except TokenRefused as refused:
            raise self.refusal(str(refused), "invalid_token") from None
        except KeysUnavailable:
            raise ServiceUnavailable(
                "Access tokens cannot be checked now: their issuer does not answer",
                RETRY_AFTER,
                "Keep the token and try again, or use an API key",
            ) from None
        if not verified.scopes.issuperset(self.settings.required_scopes):
            raise self.insufficient(self.settings.required_scopes)
        self._remember(digest, verified)
        return verified

    def lacks_key(self, token: str) -> bool:
        """Whether `load_keys` may find the key that `token` was signed with."""
        digest = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        if self._remembered(digest) is not None:
            return False
        try:
            header = read_header(token)
        except TokenRefused:
            return False
        return self._keys.worth_asking(header.kid, header.algorithm)

    async def load_keys(self) -> None:
        """Ask the issuer for its keys."""
        await self._keys.ask()

    def refusal(
        self, message: str, error: str = "", scopes: tuple[str, ...] = ()
    ) -> Unauthenticated:
        """The answer to a caller who is not let in, leading it to the issuer."""
        return Unauthenticated(
            message,
            ErrorDetails(
                suggestion=f"Send an access token of {self.settings.issuer} or an API key "
                "as 'Authorization: Bearer <token>'"
            ),
            challenge(self.settings, error, message if error else "", scopes),
        )

    def insufficient(self, scopes: tuple[str, ...]) -> InsufficientScope:
        """The answer to a token that would have to carry `scopes`."""
        listed = " ".join(scopes)
        message = "The access token lacks a scope"
        return InsufficientScope(
            message,
            ErrorDetails(expected=listed, suggestion=f"Get a token with the scopes {listed}"),
            challenge(self.settings, "insufficient_scope", message, scopes),
        )

    def _signed(self, token: str) -> dict[str, Any]:
        """The claims of a token with a good signature, meant for us, at this time."""
        header = read_header(token)
        keys = self._keys.find(header.kid, header.algorithm)
        if not keys:
            raise TokenRefused(
                "The access token was signed with a key that its issuer does not publish"
            )
        fault: Exception | None = None
        for key in keys[:MOST_KEYS_TRIED]:
            try:
                return jwt.decode(
                    token,
                    key.material,
                    algorithms=[header.algorithm],
                    audience=self._audiences,
                    issuer=self.settings.issuer,
                    leeway=LEEWAY,
                    options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
                )
            except jwt.InvalidSignatureError as wrong:
                fault = wrong
            except (jwt.PyJWTError, ValueError, TypeError) as wrong:
                raise TokenRefused(_reason(wrong)) from None
        raise TokenRefused(_reason(fault))

    def _remembered(self, digest: bytes) -> VerifiedToken | None:
        if self._known_under != self._keys.version:
            # A key may have been withdrawn.
            self._known.clear()
            self._known_under = self._keys.version
        until, verified = self._known.get(digest, (0.0, None))
        if verified is None or self._clock() >= until:
            return None
        self._known.move_to_end(digest)
        return verified

    def _remember(self, digest: bytes, verified: VerifiedToken) -> None:
        self._known[digest] = (min(verified.expires_at, self._clock() + REMEMBERED_FOR), verified)
        self._known.move_to_end(digest)
        if len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)


def same_resource(audience: str) -> tuple[str, ...]:
    """How a resource may be written: an empty path and a single slash are the same."""
    if urlsplit(audience).path in {"", "/"}:
        return (audience.rstrip("/"), audience.rstrip("/") + "/")
    return (audience,)


def _reason(fault: Exception | None) -> str:
    return next((text for kind, text in REASONS if isinstance(fault, kind)), UNREADABLE)
