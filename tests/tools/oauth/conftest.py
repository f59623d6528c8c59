"""An issuer on a real port, and the service told to trust it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings

from tests.tools.oauth.issuer import AUDIENCE, StandInIssuer
from tools.conf import OAuthSettings, deployment
from tools.oauth.issuer import Issuer
from tools.oauth.jwks import KeyCache
from tools.oauth.verifier import TokenVerifier

Trust = Callable[..., None]


@pytest.fixture
def issuer() -> Iterator[StandInIssuer]:
    """The authorization server."""
    made = StandInIssuer()
    yield made
    made.stop()


@pytest.fixture
def trust(settings: Settings) -> Iterator[Trust]:
    """Switches OAuth on for the doors that start afterwards."""

    def switch_on(issuer: StandInIssuer, **changes: Any) -> None:
        settings.CONTROL_PLANE = {
            **settings.CONTROL_PLANE,
            "OAUTH_ISSUER": issuer.url,
            "OAUTH_AUDIENCE": AUDIENCE,
            **changes,
        }
        deployment.cache_clear()

    yield switch_on
    deployment.cache_clear()


class Clock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def trusted(issuer: StandInIssuer) -> OAuthSettings:
    """The settings that name the stand-in issuer."""
    return OAuthSettings(issuer=issuer.url, audience=AUDIENCE)


@pytest.fixture
async def keys(trusted: OAuthSettings, clock: Clock) -> AsyncIterator[KeyCache]:
    """Its keys, not asked for yet, on a clock of the test's own."""
    asked = Issuer(trusted)
    cache = KeyCache(asked.keys, trusted.issuer, clock)
    yield cache
    await cache.close()
    await asked.close()


@pytest.fixture
async def verifier(trusted: OAuthSettings, keys: KeyCache) -> TokenVerifier:
    """What checks its tokens, keys at hand."""
    await keys.refresh()
    return TokenVerifier(trusted, keys)
