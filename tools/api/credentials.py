"""What a request presents: a key in one of two headers, and the address it comes from."""

from __future__ import annotations

from django.http import HttpRequest
from rest_framework.request import Request

from tools.contracts import CallerKind, Credentials


def credentials_of(request: Request | HttpRequest) -> Credentials:
    """The API key of `Authorization: Bearer` or `X-API-Key`, the former first; else anonymous."""
    scheme, _, value = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    secret = value.strip() if scheme.lower() == "bearer" else ""
    secret = secret or request.META.get("HTTP_X_API_KEY", "").strip()
    return Credentials(
        kind=CallerKind.API_KEY if secret else CallerKind.ANONYMOUS,
        secret=secret,
        address=request.META.get("REMOTE_ADDR") or "",
    )
