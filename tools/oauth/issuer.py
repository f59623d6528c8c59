"""The issuer over HTTP: where its keys are, and what they are now.

The issuer's answers are input like any other: limited in size and time, never a redirect followed,
and an address it names must be as safe as its own.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import httpx2

from tools.conf import LOOPBACK, OAuthSettings
from tools.oauth.keys import KeySet, UnusableKeys, read_keys

TIME_LIMIT: Final = 5.0
LARGEST_ANSWER: Final = 256 * 1024


class IssuerFault(Exception):
    """The issuer could not be asked, or answered what cannot be used."""


class _Answered(IssuerFault):
    """It did answer at this address, but not with what was asked for."""


class Issuer:
    """Asks one issuer for its keys."""

    def __init__(self, settings: OAuthSettings) -> None:
        self._settings = settings
        self._jwks_url = settings.jwks_url
        self._client: httpx2.AsyncClient | None = None

    async def keys(self) -> KeySet:
        """The keys the issuer publishes now.

        Raises:
            IssuerFault: within the time limit, saying why not.
        """
        try:
            async with asyncio.timeout(TIME_LIMIT):
                return await self._keys()
        except TimeoutError:
            raise IssuerFault(f"no answer within {TIME_LIMIT:g} s") from None
        except httpx2.HTTPError as fault:
            raise IssuerFault(f"{type(fault).__name__}: {fault}") from fault
        except UnusableKeys as fault:
            raise IssuerFault(str(fault)) from fault

    async def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            await self._client.aclose()

    async def _keys(self) -> KeySet:
        if self._client is None:
            # Reading the system's certificates takes a while; the event loop has other work.
            self._client = await asyncio.to_thread(
                httpx2.AsyncClient,
                follow_redirects=False,
                timeout=TIME_LIMIT,
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            )
        if not self._jwks_url:
            self._jwks_url = await self._discover(self._client)
        try:
            return read_keys(await _get(self._client, self._jwks_url))
        except _Answered:
            # Keys can move; the metadata will tell where to.
            self._jwks_url = self._settings.jwks_url
            raise

    async def _discover(self, client: httpx2.AsyncClient) -> str:
        """The `jwks_uri` of the issuer's metadata, wherever it publishes that."""
        reasons = []
        for address in metadata_addresses(self._settings.issuer):
            try:
                return self._jwks_uri(await _get(client, address))
            except _Answered as fault:
                reasons.append(f"{address}: {fault}")
        raise IssuerFault("; ".join(reasons))

    def _jwks_uri(self, metadata: Any) -> str:
        if not isinstance(metadata, dict):
            raise _Answered("the metadata is no object")
        if metadata.get("issuer") != self._settings.issuer:
            raise _Answered("the metadata is that of another issuer")
        uri = metadata.get("jwks_uri")
        if not isinstance(uri, str) or not _as_safe(uri, self._settings.issuer):
            raise _Answered("the metadata has no jwks_uri that can be used")
        return uri


def metadata_addresses(issuer: str) -> tuple[str, ...]:
    """Where an issuer's metadata may be: RFC 8414 first, then OpenID Connect in both its forms."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    paths = (
        f"/.well-known/oauth-authorization-server{path}",
        f"/.well-known/openid-configuration{path}",
        f"{path}/.well-known/openid-configuration",
    )
    return tuple(
        dict.fromkeys(urlunsplit((parts.scheme, parts.netloc, each, "", "")) for each in paths)
    )


def _as_safe(address: str, issuer: str) -> bool:
    """Whether an address the issuer named may be fetched: https, or this machine if it is here too."""
    try:
        named, own = urlsplit(address), urlsplit(issuer)
        if named.scheme == "https":
            return bool(named.hostname)
        return named.scheme == "http" and {named.hostname, own.hostname} <= LOOPBACK
    except ValueError:
        return False


async def _get(client: httpx2.AsyncClient, address: str) -> Any:
    """The JSON at an address."""
    async with client.stream("GET", address) as answer:
        if answer.status_code != httpx2.codes.OK:
            raise _Answered(f"status {answer.status_code}")
        body = bytearray()
        async for chunk in answer.aiter_raw():
            body += chunk
            if len(body) > LARGEST_ANSWER:
                raise _Answered(f"more than {LARGEST_ANSWER} bytes")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise _Answered("the answer is not JSON") from None
