"""Asking an issuer: its metadata in every form, within limits, and nothing it says taken on trust."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tools.oauth.issuer import JWKS, METADATA, OPENID, StandInIssuer
from tools.conf import OAuthSettings
from tools.oauth.issuer import LARGEST_ANSWER, Issuer, IssuerFault, metadata_addresses


async def asked(settings: OAuthSettings) -> list[str]:
    """The names of the keys an issuer gives."""
    issuer = Issuer(settings)
    try:
        return [key.kid for key in (await issuer.keys()).keys]
    finally:
        await issuer.close()


def test_metadata_is_looked_for_where_the_standards_put_it() -> None:
    assert metadata_addresses("https://id.example.com") == (
        "https://id.example.com/.well-known/oauth-authorization-server",
        "https://id.example.com/.well-known/openid-configuration",
    )
    assert metadata_addresses("https://id.example.com/realms/one/") == (
        "https://id.example.com/.well-known/oauth-authorization-server/realms/one",
        "https://id.example.com/.well-known/openid-configuration/realms/one",
        "https://id.example.com/realms/one/.well-known/openid-configuration",
    )


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("", METADATA),
        ("", OPENID),
        ("/realms/one", f"{METADATA}/realms/one"),
        ("/realms/one", f"{OPENID}/realms/one"),
        ("/realms/one", f"/realms/one{OPENID}"),
        ("/", OPENID),
    ],
)
async def test_keys_are_found_through_each_form_of_metadata(
    issuer: StandInIssuer, trusted: OAuthSettings, path: str, place: str
) -> None:
    issuer.metadata_at = {place}
    issuer.metadata = {"issuer": issuer.url + path}
    assert await asked(replace(trusted, issuer=issuer.url + path)) == ["rsa-1"]


async def test_a_configured_address_of_the_keys_needs_no_metadata(
    issuer: StandInIssuer, trusted: OAuthSettings
) -> None:
    assert await asked(replace(trusted, jwks_url=issuer.url + JWKS)) == ["rsa-1"]
    assert set(issuer.requests) == {JWKS}


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "https://evil.example.com"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": 5},
        {"jwks_uri": "http://id.example.com/jwks"},
        {"jwks_uri": "http://169.254.169.254/latest"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https:///jwks"},
        {"jwks_uri": "http://[::1/jwks"},
    ],
)
async def test_metadata_that_cannot_be_trusted_is_not_followed(
    issuer: StandInIssuer, trusted: OAuthSettings, changes: dict[str, Any]
) -> None:
    issuer.metadata = changes
    with pytest.raises(IssuerFault, match=r"another issuer|no jwks_uri"):
        await asked(trusted)
    assert issuer.requests[JWKS] == 0


@pytest.mark.parametrize("path", [METADATA, JWKS])
@pytest.mark.parametrize(
    ("body", "status", "headers"),
    [
        (b"<html>", 200, {}),
        (b"[" * 100_000, 200, {}),
        (b"[]", 200, {}),
        (b"\xff\xfe", 200, {}),
        (b'{"keys": []}' + b" " * LARGEST_ANSWER, 200, {}),
        (b"", 302, {"Location": "/elsewhere"}),
        (b"no", 500, {}),
        (b"", 204, {}),
    ],
)
async def test_a_bad_answer_is_a_fault_and_redirects_are_not_followed(
    *,
    issuer: StandInIssuer,
    trusted: OAuthSettings,
    path: str,
    body: bytes,
    status: int,
    headers: dict[str, str],
) -> None:
    issuer.answer(path, body, status, **headers)
    with pytest.raises(IssuerFault):
        await asked(trusted)
    assert issuer.requests["/elsewhere"] == 0


async def test_an_issuer_that_is_silent_is_given_up_within_the_time_limit(
    issuer: StandInIssuer, trusted: OAuthSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.oauth.issuer.TIME_LIMIT", 0.3)
    issuer.silent.set()
    with pytest.raises(IssuerFault, match=r"no answer within 0.3 s|Timeout"):
        await asked(trusted)


async def test_an_issuer_that_is_down_is_a_fault(
    issuer: StandInIssuer, trusted: OAuthSettings
) -> None:
    issuer.stop()
    with pytest.raises(IssuerFault, match="ConnectError"):
        await asked(trusted)


async def test_keys_that_moved_are_found_again_through_the_metadata(
    issuer: StandInIssuer, trusted: OAuthSettings
) -> None:
    client = Issuer(trusted)
    await client.keys()
    moved = f"{JWKS}/new"
    issuer.answer(JWKS, b"gone", 410)
    issuer.metadata = {"jwks_uri": issuer.url + moved}
    issuer.answer(moved, {"keys": []})
    with pytest.raises(IssuerFault):
        await client.keys()
    assert (await client.keys()).keys == ()
    await client.close()
