"""Asking the running processes how they are."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import redis


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """What GET /health said; `status` is `no answer` when nothing did."""

    status: str
    http_status: int = 0
    dependencies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    state: str = ""

    @property
    def answered(self) -> bool:
        return self.http_status != 0

    @property
    def serves(self) -> bool:
        """Whether the process has started: until then it answers that nothing can be called."""
        return self.state not in {"", "INITIALIZING"}

    @property
    def well(self) -> bool:
        return self.status == "healthy"


NO_ANSWER = HealthAnswer("no answer")
CATALOGUE_VERSION = re.compile(rb"^controlplane_catalogue_version (\S+)$", re.MULTILINE)


def ask_health(address: str, host_header: str, timeout: float = 5.0) -> HealthAnswer:
    """GET /health at `address`, presenting `host_header` as a browser would."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", "/health", headers={"Host": host_header, "Connection": "close"})
        response = connection.getresponse()
        return _read(response.status, response.read())
    except (OSError, http.client.HTTPException):
        return NO_ANSWER
    finally:
        connection.close()


class NotTold(Exception):
    """The web process answers, and does not say what was asked: it may not, or cannot."""


def served_catalogue(address: str, host_header: str, key: str | None) -> int | None:
    """The number of the catalogue that a web process serves, as GET /metrics tells it; None while it is silent.

    Raises:
        NotTold: asking again is of no use.
    """
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    headers = {"Host": host_header, "Connection": "close", **({"X-API-Key": key} if key else {})}
    try:
        connection.request("GET", "/metrics", headers=headers)
        response = connection.getresponse()
        told = CATALOGUE_VERSION.search(response.read())
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    if told:
        return int(float(told[1]))
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return None
    raise NotTold


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call did not succeed, and whether it may a moment later."""

    reason: str
    passing: bool


def refusal_of(
    address: str, host_header: str, call: str, key: str | None, timeout: float = 35.0
) -> Refusal | None:
    """POST /call-tool; None when it succeeded."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    headers = {"Host": host_header, "Connection": "close", "Content-Type": "application/json"}
    if key:
        headers["X-API-Key"] = key
    try:
        connection.request("POST", "/call-tool", body=call, headers=headers)
        response = connection.getresponse()
        told = json.loads(response.read())
        passing = response.status in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
        return None if told["success"] else Refusal(str(told["error"]), passing)
    except (OSError, http.client.HTTPException) as fault:
        return Refusal(str(fault) or type(fault).__name__, passing=True)
    except (ValueError, KeyError, TypeError):
        return Refusal("the answer is none of a control plane", passing=False)
    finally:
        connection.close()


def accepted_host(address: str, allowed_hosts: list[str]) -> str:
    """A Host header for `address` that Django's ALLOWED_HOSTS lets in."""
    parts = urlsplit(address)
    own = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else str(parts.hostname)
    names = [name.lstrip(".") for name in allowed_hosts if name != "*"]
    if "*" in allowed_hosts or own in names or not names:
        return f"{own}:{parts.port}"
    return names[0]


def redis_answers(url: str, timeout: float = 1.0) -> bool:
    """Whether a Redis server at `url` answers PING."""
    client = redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()


def forget_health(url: str, timeout: float = 1.0) -> None:
    """Let the web processes measure anew: what they know is of before a process was stopped or started."""
    # Imported here: it needs Django set up.
    from health.latest import KEY

    client = redis.Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout)
    with contextlib.suppress(redis.RedisError, OSError):
        client.delete(KEY)
    client.close()


def _read(status: int, body: bytes) -> HealthAnswer:
    try:
        document = json.loads(body)
        dependencies = document.get("dependencies") or {}
        state = str(document.get("state", ""))
        return HealthAnswer(str(document["status"]), status, dependencies, state)
    except (ValueError, KeyError, AttributeError):
        return HealthAnswer(f"HTTP {status}", status)
