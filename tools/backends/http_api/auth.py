"""Credentials of a service, put onto a request. The only place that opens them."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Final
from urllib.parse import quote, quote_plus

from tools.backends.http_api.outgoing import Outgoing
from tools.backends.http_api.request import add_cookies, misconfigured, put_header
from tools.backends.http_api.writing import Unwritable, checked_header, encoded
from tools.operations import Service
from tools.vault import VaultFault, unseal

KINDS: Final = ("none", "bearer", "header", "query", "cookie", "basic")
# Shorter ones are found in any text, and taking them out would spoil it.
_SHORTEST_HIDDEN: Final = 6


def authorize(request: Outgoing, service: Service) -> Outgoing:
    """`request` with the credentials of `service`, which replace whatever an argument put there.

    Raises:
        ExecutionFailed: there are none, or they cannot be opened or sent.
    """
    if service.auth == "none":
        return request
    secret = _opened(service)
    try:
        return _authorized(request, service, secret)
    except Unwritable:
        # Without its cause: texts of those may hold what could not be written.
        raise misconfigured(service, "its credentials cannot be sent in this way") from None


def _opened(service: Service) -> str:
    try:
        secret = unseal(service.secret)
    except VaultFault as fault:
        raise misconfigured(service, str(fault)) from None
    if not secret and not (service.auth == "basic" and service.username):
        raise misconfigured(service, "it has no credentials")
    return secret


def _authorized(request: Outgoing, service: Service, secret: str) -> Outgoing:
    headers, target, public, sent = dict(request.headers), request.target, request.public, secret
    match service.auth:
        case "bearer":
            put_header(headers, "Authorization", checked_header(f"Bearer {secret}"))
        case "basic":
            pair = f"{service.username}:{secret}".encode()
            sent = base64.b64encode(pair).decode("ascii")
            put_header(headers, "Authorization", f"Basic {sent}")
        case "header":
            put_header(headers, _named(service), checked_header(secret))
        case "cookie":
            add_cookies(headers, [(encoded(_named(service)), encoded(secret))])
        case "query":
            target = _with_query(target, encoded(_named(service)), encoded(secret))
            # An address that works only with the credential is not worth telling.
            public = ""
        case _:
            raise misconfigured(service, f"{service.auth} is no way to authenticate")
    secrets = _forms(secret) | _forms(sent)
    return replace(
        request,
        headers=headers,
        target=target,
        public=public,
        secrets=tuple(sorted(secrets, key=len, reverse=True)),
    )


def _named(service: Service) -> str:
    if not service.auth_name:
        raise misconfigured(service, f"the name of its {service.auth} is missing")
    return service.auth_name


def _with_query(target: str, name: str, value: str) -> str:
    path, _, query = target.partition("?")
    kept = [pair for pair in query.split("&") if pair and pair.partition("=")[0] != name]
    return f"{path}?{'&'.join([*kept, f'{name}={value}'])}"


def _forms(secret: str) -> set[str]:
    """The ways in which an answer may repeat `secret`."""
    if len(secret) < _SHORTEST_HIDDEN:
        return set()
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
        quote_plus(secret),
    }
