"""Sets of keys: the usable ones are taken, others left out, what is no set is refused."""

from __future__ import annotations

from typing import Any

import pytest
from jwt.algorithms import RSAAlgorithm

from tests.tools.oauth.issuer import private_key, public_jwk
from tools.oauth.keys import UnusableKeys, read_keys


def test_keys_of_each_kind_are_read_with_the_algorithms_they_work_with() -> None:
    kids = ("rsa-1", "es256-1", "es384-1", "ed-1")
    found = read_keys({"keys": [public_jwk(kid) for kid in kids]})
    assert {key.kid: sorted(key.algorithms) for key in found.keys} == {
        "rsa-1": ["PS256", "PS384", "PS512", "RS256", "RS384", "RS512"],
        "es256-1": ["ES256"],
        "es384-1": ["ES384"],
        "ed-1": ["EdDSA"],
    }


def test_a_key_that_names_its_algorithm_is_used_with_no_other() -> None:
    found = read_keys({"keys": [public_jwk("rsa-1", alg="PS256")]})
    assert found.find("rsa-1", "PS256")
    assert not found.find("rsa-1", "RS256")


def test_two_keys_of_one_name_are_both_found() -> None:
    found = read_keys({"keys": [public_jwk("rsa-1"), public_jwk("rsa-2", kid="rsa-1")]})
    assert len(found.find("rsa-1", "RS256")) == 2
    assert found.find("rsa-9", "RS256") == ()


@pytest.mark.parametrize(
    "member",
    [
        None,
        "text",
        {},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "rsa-1"},
        {"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"},
        {"kty": "RSA", "n": "%%%", "e": "AQAB"},
        {"kty": "RSA", "n": 5, "e": "AQAB"},
        {"kty": "RSA", "e": "AQAB"},
        public_jwk("rsa-1", use="enc"),
        public_jwk("rsa-1", alg="HS256"),
        public_jwk("rsa-1", alg="RSA-OAEP"),
        public_jwk("rsa-1", kid=5),
        public_jwk("short-1"),
        {**RSAAlgorithm.to_jwk(private_key("rsa-1"), as_dict=True), "kid": "leaked"},
    ],
)
def test_what_cannot_be_used_is_left_out_and_the_rest_still_works(member: Any) -> None:
    found = read_keys({"keys": [member, public_jwk("es256-1")]})
    assert [key.kid for key in found.keys] == ["es256-1"]


@pytest.mark.parametrize("document", [None, [], "keys", {}, {"keys": None}, {"keys": {}}])
def test_what_is_no_set_is_refused(document: Any) -> None:
    with pytest.raises(UnusableKeys):
        read_keys(document)


def test_an_empty_set_withdraws_every_key() -> None:
    assert read_keys({"keys": []}).keys == ()
