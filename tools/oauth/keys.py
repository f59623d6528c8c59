"""A JSON Web Key Set as keys that signatures can be checked with. Pure."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

logger = logging.getLogger(__name__)

PublicKey = (
    rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | ed448.Ed448PublicKey
)

# Asymmetric ones only: a key that anyone can read must never be able to sign.
RSA_ALGORITHMS: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
CURVES: Final = {"P-256": "ES256", "P-384": "ES384"}
ALGORITHMS: Final = RSA_ALGORITHMS | {"ES256", "ES384", "EdDSA"}
SHORTEST_RSA: Final = 2048


class UnusableKeys(ValueError):
    """What the issuer published is no set of keys."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One public key, its name, and the algorithms it may be used with."""

    kid: str
    algorithms: frozenset[str]
    material: PublicKey = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of an issuer at one time. `source` tells two such sets apart."""

    keys: tuple[SigningKey, ...]
    source: str = field(repr=False)

    def find(self, kid: str | None, algorithm: str) -> tuple[SigningKey, ...]:
        """The keys a signature may be of; without a name, every one that fits the algorithm."""
        return tuple(
            key
            for key in self.keys
            if algorithm in key.algorithms and (kid is None or key.kid == kid)
        )


def read_keys(document: Any) -> KeySet:
    """The usable keys of a set; others are left out, as RFC 7517 asks.

    Raises:
        UnusableKeys: it is no set at all.
    """
    members = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(members, list):
        raise UnusableKeys("the answer is no set of keys")
    keys = tuple(key for member in members if (key := _key(member)) is not None)
    if not keys:
        logger.warning("The issuer publishes no key that can be used")
    return KeySet(keys, repr(members))


def _key(member: Any) -> SigningKey | None:
    if not isinstance(member, Mapping) or member.get("use", "sig") != "sig":
        return None
    fitting = _fitting(member)
    if named := member.get("alg"):
        fitting = fitting & {str(named)}
    kid = member.get("kid", "")
    if not fitting or not isinstance(kid, str):
        return None
    try:
        # Any of them reads the same key; which one checks a signature is decided per token.
        material = jwt.PyJWK(dict(member), algorithm=min(fitting)).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        logger.warning("The issuer publishes a key that cannot be read")
        return None
    if not isinstance(material, PublicKey):
        logger.warning("The issuer publishes a private key; it is not used")
        return None
    if isinstance(material, rsa.RSAPublicKey) and material.key_size < SHORTEST_RSA:
        logger.warning("The issuer publishes an RSA key of less than %d bits", SHORTEST_RSA)
        return None
    return SigningKey(kid, fitting, material)


def _fitting(member: Mapping[str, Any]) -> frozenset[str]:
    """The algorithms a key of this kind works with."""
    match member.get("kty"), member.get("crv"):
        case "RSA", _:
            return RSA_ALGORITHMS
        case "EC", str() as curve if curve in CURVES:
            return frozenset({CURVES[curve]})
        case "OKP", "Ed25519" | "Ed448":
            return frozenset({"EdDSA"})
    return frozenset()
