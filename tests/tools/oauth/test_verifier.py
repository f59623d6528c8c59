"""Tokens: the good ones are read, everything else is refused with a reason."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.oauth.issuer import AUDIENCE, StandInIssuer, private_key
from tools.conf import OAuthSettings
from tools.errors import InsufficientScope, ServiceUnavailable, Unauthenticated
from tools.oauth.claims import LONGEST_TOKEN
from tools.oauth.jwks import KeyCache
from tools.oauth.verifier import TokenVerifier, same_resource


@dataclass(frozen=True)
class In:
    """A time, in seconds from when the test runs."""

    seconds: int


def refused(verifier: TokenVerifier, token: str) -> str:
    """Why a token is refused; its challenge says that it is invalid."""
    with pytest.raises(Unauthenticated) as caught:
        verifier.verify(token)
    header = caught.value.headers["WWW-Authenticate"]
    assert 'error="invalid_token"' in header
    assert "resource_metadata=" in header
    assert token not in str(caught.value) + header
    return caught.value.message


async def test_a_good_token_says_who_holds_it_and_what_for(
    issuer: StandInIssuer, verifier: TokenVerifier
) -> None:
    verified = verifier.verify(issuer.token(scope="reports.read tools.use"))
    assert (verified.subject, verified.client_id) == ("agent-7", "desk")
    assert verified.scopes == {"reports.read", "tools.use"}
    assert verified.expires_at > time.time()


@pytest.mark.parametrize(
    ("kid", "algorithm"),
    [
        *[("rsa-1", name) for name in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")],
        ("es256-1", "ES256"),
        ("es384-1", "ES384"),
        ("ed-1", "EdDSA"),
    ],
)
async def test_each_accepted_algorithm_works(
    issuer: StandInIssuer, trusted: OAuthSettings, keys: KeyCache, kid: str, algorithm: str
) -> None:
    issuer.published = ["rsa-1", "es256-1", "es384-1", "ed-1"]
    await keys.refresh()
    token = issuer.token(kid, algorithm=algorithm)
    assert TokenVerifier(trusted, keys).verify(token).subject == "agent-7"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "https://other.example.com"}, "issued for another service"),
        ({"aud": [AUDIENCE + "/reports", "x"]}, "issued for another service"),
        ({"aud": []}, "lacks a claim"),
        ({"aud": {"a": AUDIENCE}}, "issued for another service"),
        ({"iss": "https://evil.example.com"}, "another issuer"),
        ({"iss": ["https://evil.example.com"]}, "another issuer"),
        ({"exp": In(-60)}, "has expired"),
        ({"exp": None}, "lacks a claim"),
        ({"exp": "soon"}, "cannot be read"),
        ({"exp": "1e10"}, "cannot be read"),
        ({"exp": 1e400}, "cannot be read"),
        ({"exp": 10**400}, "cannot be read"),
        ({"exp": float("nan")}, "cannot be read"),
        ({"nbf": In(60)}, "not valid yet"),
        ({"nbf": "0"}, "cannot be read"),
        ({"iat": In(60)}, "not valid yet"),
        ({"iat": In(20), "exp": In(10)}, "issued after its end"),
        ({"iat": "now"}, "cannot be read"),
        ({"sub": 5}, "cannot be read"),
        ({"sub": "", "client_id": ""}, "who holds it"),
        ({"without": ("sub", "client_id")}, "who holds it"),
        ({"without": ("exp",)}, "lacks a claim"),
        ({"without": ("aud",)}, "lacks a claim"),
        ({"without": ("iss",)}, "lacks a claim"),
    ],
)
async def test_a_token_with_a_wrong_claim_is_refused(
    issuer: StandInIssuer, verifier: TokenVerifier, changes: dict[str, Any], reason: str
) -> None:
    claims = {"iss": issuer.url, **changes}
    without = claims.pop("without", ())
    key = private_key("rsa-1")
    now = int(time.time())
    good = {"aud": AUDIENCE, "sub": "a", "client_id": "c", "iat": now, "exp": now + 300}
    payload = {
        name: now + value.seconds if isinstance(value, In) else value
        for name, value in {**good, **claims}.items()
        if name not in without
    }
    # Signed by hand: the library would not make some of these.
    body = json.dumps(payload).encode()
    token = jwt.PyJWS().encode(body, key, "RS256", headers={"kid": "rsa-1"})
    assert reason in refused(verifier, token)


async def test_clocks_may_differ_by_half_a_minute(
    issuer: StandInIssuer, verifier: TokenVerifier
) -> None:
    now = int(time.time())
    assert verifier.verify(issuer.token(exp=now - 15, iat=now - 100)).subject
    assert verifier.verify(issuer.token(nbf=now + 15, iat=now + 15)).subject


@pytest.mark.parametrize("kind", ["JWT", "at+jwt", "AT+JWT", "application/at+jwt"])
async def test_types_of_access_tokens_are_accepted(
    issuer: StandInIssuer, verifier: TokenVerifier, kind: str
) -> None:
    assert verifier.verify(issuer.token(header={"typ": kind})).subject
    untyped = jwt.encode(
        {"iss": issuer.url, "aud": AUDIENCE, "sub": "a", "exp": int(time.time()) + 60},
        private_key("rsa-1"),
        "RS256",
        headers={"kid": "rsa-1", "typ": ""},
    )
    assert verifier.verify(untyped).subject == "a"


@pytest.mark.parametrize("kind", ["dpop+jwt", "logout+jwt", "id+jwt", "secevent+jwt"])
async def test_tokens_of_another_kind_are_refused(
    issuer: StandInIssuer, verifier: TokenVerifier, kind: str
) -> None:
    assert "not an access token" in refused(verifier, issuer.token(header={"typ": kind}))


async def test_unsigned_and_symmetrically_signed_tokens_are_refused(
    issuer: StandInIssuer, verifier: TokenVerifier
) -> None:
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    none = jwt.encode(claims, "", algorithm="none", headers={"kid": "rsa-1"})
    assert "not accepted" in refused(verifier, none)
    public = private_key("rsa-1").public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    # The classic mix-up: the public key, which anyone has, taken for a shared secret.
    for algorithm in ("HS256", "HS384", "HS512"):
        assert "not accepted" in refused(verifier, signed_with_secret(claims, pem, algorithm))


def signed_with_secret(claims: dict[str, Any], secret: bytes, algorithm: str) -> str:
    """A token signed with HMAC over a key the library refuses to take for a secret."""
    import hashlib
    import hmac

    def encoded(part: bytes) -> bytes:
        return base64.urlsafe_b64encode(part).rstrip(b"=")

    header = {"alg": algorithm, "typ": "JWT", "kid": "rsa-1"}
    signed = encoded(json.dumps(header).encode()) + b"." + encoded(json.dumps(claims).encode())
    digest = getattr(hashlib, f"sha{algorithm[2:]}")
    return (signed + b"." + encoded(hmac.new(secret, signed, digest).digest())).decode()


async def test_a_key_is_used_with_its_own_algorithms_only(
    issuer: StandInIssuer, trusted: OAuthSettings, keys: KeyCache
) -> None:
    issuer.published = ["rsa-1", "es256-1", "es384-1"]
    await keys.refresh()
    verifier = TokenVerifier(trusted, keys)
    crossed = issuer.token("es384-1", algorithm="ES384", header={"kid": "es256-1"})
    assert "does not publish" in refused(verifier, crossed)


async def test_a_forged_signature_is_refused(
    issuer: StandInIssuer, verifier: TokenVerifier
) -> None:
    forged = issuer.token("rsa-1", key=private_key("rsa-evil"))
    assert "signature" in refused(verifier, forged)
    head, body, signature = issuer.token().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["scope"] = "everything"
    altered = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    assert "signature" in refused(verifier, f"{head}.{altered}.{signature}")


async def test_a_token_without_a_key_name_is_tried_with_every_key_that_fits(
    issuer: StandInIssuer, trusted: OAuthSettings, keys: KeyCache
) -> None:
    issuer.published = ["es256-1", "rsa-0", "rsa-1"]
    await keys.refresh()
    verifier = TokenVerifier(trusted, keys)
    assert verifier.verify(issuer.token(None, key=private_key("rsa-1"))).subject == "agent-7"
    assert "signature" in refused(verifier, issuer.token(None, key=private_key("rsa-evil")))


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"scope": "a b"}, {"a", "b"}),
        ({"scope": "", "scp": ["a", "b"]}, {"a", "b"}),
        ({"scope": None, "scp": "a b"}, {"a", "b"}),
        ({"scope": None, "scp": ["a", 5, ""]}, {"a"}),
        ({"scope": {"a": 1}}, set()),
        ({"scope": None}, set()),
    ],
)
async def test_scopes_are_read_in_every_form_issuers_use(
    issuer: StandInIssuer, verifier: TokenVerifier, claims: dict[str, Any], expected: set[str]
) -> None:
    assert verifier.verify(issuer.token(**claims)).scopes == expected


async def test_the_authorized_party_stands_in_for_a_client_id(
    issuer: StandInIssuer, verifier: TokenVerifier
) -> None:
    assert verifier.verify(issuer.token(without=("client_id",), azp="desk")).client_id == "desk"


async def test_a_missing_required_scope_is_named_in_the_challenge(
    issuer: StandInIssuer, trusted: OAuthSettings, keys: KeyCache
) -> None:
    await keys.refresh()
    strict = replace(trusted, required_scopes=("tools.use", "tools.see"))
    verifier = TokenVerifier(strict, keys)
    with pytest.raises(InsufficientScope) as caught:
        verifier.verify(issuer.token(scope="tools.see"))
    header = caught.value.headers["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in header
    assert 'scope="tools.use tools.see"' in header
    assert verifier.verify(issuer.token(scope="tools.see tools.use")).subject


async def test_an_audience_without_a_path_may_be_written_with_a_slash(
    issuer: StandInIssuer, trusted: OAuthSettings, keys: KeyCache
) -> None:
    await keys.refresh()
    for configured in ("https://tools.example.com", "https://tools.example.com/"):
        verifier = TokenVerifier(replace(trusted, audience=configured), keys)
        for claimed in ("https://tools.example.com", "https://tools.example.com/"):
            assert verifier.verify(issuer.token(aud=claimed)).subject
    assert same_resource(AUDIENCE) == (AUDIENCE,)


async def test_an_oversized_token_is_refused_unread(
    issuer: StandInIssuer, verifier: TokenVerifier
) -> None:
    big = issuer.token(filler="x" * LONGEST_TOKEN)
    assert "longer than" in refused(verifier, big)
    assert verifier.lacks_key(big) is False


async def test_a_verified_token_is_remembered_until_it_ends_or_the_keys_change(
    issuer: StandInIssuer, trusted: OAuthSettings, keys: KeyCache
) -> None:
    await keys.refresh()
    now = [time.time()]
    verifier = TokenVerifier(trusted, keys, clock=lambda: now[0])
    token = issuer.token()
    first = verifier.verify(token)
    assert verifier.verify(token) is first
    now[0] += 61
    assert verifier.verify(token) is not first
    short = issuer.token(exp=int(now[0]) + 5)
    known = verifier.verify(short)
    now[0] += 6
    assert verifier.verify(short) is not known  # looked at again: the clocks may differ a little
    issuer.rotate("rsa-2")
    await keys.refresh()
    assert "does not publish" in refused(verifier, token)


async def test_the_oldest_remembered_token_makes_room(
    issuer: StandInIssuer, verifier: TokenVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.oauth.verifier.MOST_REMEMBERED", 2)
    tokens = [issuer.token(sub=f"agent-{number}") for number in range(3)]
    first = [verifier.verify(token) for token in tokens]
    assert verifier.verify(tokens[2]) is first[2]
    assert verifier.verify(tokens[0]) is not first[0]


async def test_without_the_issuer_a_token_is_not_judged(
    issuer: StandInIssuer, trusted: OAuthSettings, keys: KeyCache
) -> None:
    issuer.stop()
    await keys.refresh()
    with pytest.raises(ServiceUnavailable) as caught:
        TokenVerifier(trusted, keys).verify(issuer.token())
    assert caught.value.details.retry_after == 5


@pytest.mark.parametrize(
    "token",
    [
        "..",
        "a.b.c",
        "e30.e30.",
        "e30=.e30=.x",
        "\u00e9.\u00e9.\u00e9",
        "bnVsbA.e30.e30",
        f"{base64.urlsafe_b64encode(b'[' * 3000).decode().rstrip('=')}.e30.e30",
        f"{base64.urlsafe_b64encode(json.dumps({'alg': ['RS256']}).encode()).decode()}.e30.e30",
        f"{base64.urlsafe_b64encode(json.dumps({'alg': 'RS256', 'kid': 5}).encode()).decode()}.e30.e30",
        f"{base64.urlsafe_b64encode(json.dumps({'alg': 'RS256', 'typ': 5}).encode()).decode()}.e30.e30",
    ],
)
async def test_garbage_is_refused_and_asks_the_issuer_nothing(
    verifier: TokenVerifier, token: str
) -> None:
    refused(verifier, token)
    assert verifier.lacks_key(token) is False


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
async def test_no_change_to_a_token_gets_it_accepted_or_breaks_the_check(
    issuer: StandInIssuer, verifier: TokenVerifier, data: st.DataObject
) -> None:
    token = issuer.token(exp=int(time.time()) + 600)
    at = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.characters(max_codepoint=255))
    changed = token[:at] + letter + token[at + 1 :]
    verifier.lacks_key(changed)
    if changed != token:
        refused(verifier, changed)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    payload=st.dictionaries(
        st.sampled_from(["iss", "aud", "exp", "nbf", "iat", "sub", "scope", "scp", "jti", "azp"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2)
            ),
            max_leaves=4,
        ),
    )
)
async def test_odd_claims_under_a_good_signature_are_refused_and_nothing_else(
    verifier: TokenVerifier, payload: dict[str, Any]
) -> None:
    body = json.dumps(payload).encode()
    token = jwt.PyJWS().encode(body, private_key("rsa-1"), "RS256", headers={"kid": "rsa-1"})
    refused(verifier, token)
