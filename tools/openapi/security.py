"""Ways to prove who calls, as services know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.openapi.document import Document
from tools.openapi.faults import Unservable
from tools.openapi.media import is_token
from tools.openapi.values import AuthScheme

UNSUPPORTED: Final = "unsupported"
_PLACES: Final = ("header", "query", "cookie")


def schemes(document: Document) -> tuple[AuthScheme, ...]:
    """All that the document declares; those that it asks for everywhere first, unsupported ones last."""
    declared = (
        document.part("securityDefinitions")
        if document.is_swagger
        else document.part("components", "securitySchemes")
    )
    asked = _asked(document.root.get("security"))
    found = [_scheme(document, key, node) for key, node in declared.items()]
    return tuple(sorted(found, key=lambda one: (one.kind == UNSUPPORTED, one.key not in asked)))


def _asked(requirements: Any) -> set[str]:
    listed = requirements if isinstance(requirements, list) else []
    return {key for one in listed if isinstance(one, Mapping) for key in one}


def _scheme(document: Document, key: str, node: Any) -> AuthScheme:
    try:
        stated = document.resolved(node, f"The security scheme {key}")
    except Unservable as fault:
        return AuthScheme(key, UNSUPPORTED, note=str(fault))
    kind = str(stated.get("type", ""))
    if kind == "basic":
        return AuthScheme(key, "basic")
    if kind == "http":
        return _http(key, str(stated.get("scheme", "")).lower())
    if kind == "apiKey":
        return _api_key(key, stated)
    if kind in {"oauth2", "openIdConnect"}:
        note = f"Get an access token from the issuer{_issuer(stated)} and keep it as the secret; it is not renewed."
        return AuthScheme(key, "bearer", note=note)
    return AuthScheme(key, UNSUPPORTED, note=f"{kind or 'A scheme without type'} is not supported.")


def _http(key: str, scheme: str) -> AuthScheme:
    if scheme in {"bearer", "basic"}:
        return AuthScheme(key, scheme)
    return AuthScheme(key, UNSUPPORTED, note=f"HTTP {scheme or 'scheme'} is not supported.")


def _api_key(key: str, stated: Mapping[str, Any]) -> AuthScheme:
    place, name = stated.get("in"), stated.get("name")
    if place not in _PLACES or not isinstance(name, str) or not name:
        return AuthScheme(key, UNSUPPORTED, note="The place or the name of the key is missing.")
    if place != "query" and not is_token(name):
        return AuthScheme(key, UNSUPPORTED, note=f"{name[:60]!r} cannot be the name of a {place}.")
    return AuthScheme(key, str(place), name)


def _issuer(stated: Mapping[str, Any]) -> str:
    """Where tokens come from, if the document says so."""
    flows = stated.get("flows")
    candidates = [stated, *(flows.values() if isinstance(flows, Mapping) else ())]
    for one in candidates:
        if isinstance(one, Mapping):
            for key in ("tokenUrl", "authorizationUrl", "openIdConnectUrl"):
                if isinstance(one.get(key), str) and one[key]:
                    return f" ({one[key][:200]})"
    return ""


def shortfall(requirements: Any, known: Mapping[str, AuthScheme]) -> str:
    """A note when an operation can only be called in a way that is not supported; else empty."""
    if not isinstance(requirements, list) or not requirements:
        return ""
    for one in requirements:
        keys = list(one) if isinstance(one, Mapping) else []
        if all(key in known and known[key].kind != UNSUPPORTED for key in keys):
            many = len({(known[key].kind, known[key].name) for key in keys}) > 1
            return "It asks for several credentials at once; a service has one." if many else ""
    return "It asks for credentials of a kind that is not supported."
