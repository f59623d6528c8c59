"""RFC 9728: where clients read which issuer vouches for them here.

The document is public and holds no secret: browsers on any origin may read it, and it may be cached.
Every door is part of one resource; below a toolset's address only the scope of that set is listed.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from tools.conf import OAuthSettings, deployment
from tools.contracts import ToolsetSpec, failure_envelope
from tools.errors import ControlPlaneError, ErrorDetails, MethodNotAllowed, PathNotFound
from tools.execution.runtime import serving
from tools.oauth.metadata import WELL_KNOWN, protected_resource

OPEN_TO_BROWSERS: Final = {"Access-Control-Allow-Origin": "*"}
PREFLIGHT: Final = {
    **OPEN_TO_BROWSERS,
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "600",
}
# Scopes are added in the admin; clients hear of them within minutes.
CACHEABLE: Final = {"Cache-Control": "public, max-age=300"}


def oauth_routes() -> list[BaseRoute]:
    """The addresses of the metadata document: of the service, and below it of its doors."""
    return [
        Route(WELL_KNOWN, MetadataEndpoint()),
        Route(f"{WELL_KNOWN}/{{path:path}}", MetadataEndpoint()),
    ]


class MetadataEndpoint:
    """Answers with the document, or in the envelope that there is none."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = self._respond(scope["method"], scope["path_params"].get("path", ""))
        except ControlPlaneError as error:
            response = _refused(error)
        await response(scope, receive, send)

    def _respond(self, method: str, path: str) -> Response:
        if method == "OPTIONS":
            return Response(status_code=204, headers=PREFLIGHT)
        if method not in {"GET", "HEAD"}:
            raise MethodNotAllowed(method, ("GET",))
        settings = deployment().oauth
        if settings is None:
            raise _nothing_here("OAuth is off here; use an API key")
        catalogue = serving().directory.catalogue
        scopes = _scopes_at(f"/{path}".rstrip("/"), settings, catalogue.toolsets)
        document = protected_resource(settings, catalogue.settings.service_name, scopes)
        return Response(
            json.dumps(document),
            media_type="application/json",
            headers={**OPEN_TO_BROWSERS, **CACHEABLE},
        )


def _scopes_at(path: str, settings: OAuthSettings, toolsets: Mapping[str, ToolsetSpec]) -> set[str]:
    """The scopes of the toolsets that are served at an address.

    Raises:
        PathNotFound: no door is there, or one to a toolset that no scope grants.
    """
    doors = ("", "/mcp", urlsplit(settings.audience).path.rstrip("/"))
    if path in doors:
        return {spec.oauth_scope for spec in toolsets.values() if spec.oauth_scope}
    door, _, slug = path.rpartition("/")
    spec = toolsets.get(slug)
    if door not in doors[1:] or spec is None or not spec.oauth_scope:
        raise _nothing_here(f"The document is at {WELL_KNOWN}")
    return {spec.oauth_scope}


def _nothing_here(suggestion: str) -> PathNotFound:
    return PathNotFound("There is nothing at this address", ErrorDetails(suggestion=suggestion))


def _refused(error: ControlPlaneError) -> Response:
    envelope = failure_envelope(error, uuid.uuid4())
    return Response(
        envelope.to_bytes(),
        status_code=envelope.http_status,
        media_type="application/json",
        headers={
            **envelope.headers,
            **OPEN_TO_BROWSERS,
            "Cache-Control": "no-store",
            "X-Request-ID": str(envelope.request_id),
        },
    )
