"""What clients are told about where to get a token: RFC 9728 metadata and the challenge. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

from tools.conf import OAuthSettings

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


def protected_resource(
    settings: OAuthSettings, name: str, toolset_scopes: Iterable[str]
) -> dict[str, Any]:
    """The metadata document. Every door and every toolset is part of the one resource."""
    document: dict[str, Any] = {
        "resource": settings.audience,
        "authorization_servers": [settings.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": name,
    }
    scopes = list(dict.fromkeys([*settings.required_scopes, *sorted(toolset_scopes)]))
    if scopes:
        document["scopes_supported"] = scopes
    return document


def metadata_address(audience: str) -> str:
    """Where the document of a resource is."""
    parts = urlsplit(audience)
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"


def challenge(
    settings: OAuthSettings, error: str = "", description: str = "", scopes: Iterable[str] = ()
) -> dict[str, str]:
    """The fields of `WWW-Authenticate` that lead a client to the issuer."""
    fields = {
        "error": error,
        "error_description": description,
        "scope": " ".join(dict.fromkeys(scopes)),
        "resource_metadata": metadata_address(settings.audience),
    }
    return {name: value for name, value in fields.items() if value}
