"""The verifier of this process, there as long as the runtime is open and OAuth is on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tools.conf import OAuthSettings

if TYPE_CHECKING:
    from tools.oauth.verifier import TokenVerifier

_verifier: TokenVerifier | None = None


def verifier() -> TokenVerifier | None:
    """What checks access tokens; None while OAuth is off."""
    return _verifier


def looks_like_token(secret: str) -> bool:
    """Whether a secret has the three parts of a signed token; API keys have one."""
    return secret.count(".") == 2


@asynccontextmanager
async def accepting_tokens(settings: OAuthSettings | None) -> AsyncIterator[None]:
    """Accept the tokens of an issuer meanwhile, its keys kept fresh in the background."""
    global _verifier  # noqa: PLW0603 - one verifier per process is the point
    if settings is None:
        yield
        return
    # Only who accepts tokens pays for the HTTP client and the cryptography.
    from tools.oauth.issuer import Issuer
    from tools.oauth.jwks import KeyCache
    from tools.oauth.verifier import TokenVerifier

    issuer = Issuer(settings)
    keys = KeyCache(issuer.keys, settings.issuer)
    _verifier = TokenVerifier(settings, keys)
    refreshing = asyncio.create_task(keys.run())
    try:
        yield
    finally:
        _verifier = None
        refreshing.cancel()
        await asyncio.gather(refreshing, return_exceptions=True)
        await keys.close()
        await issuer.close()
