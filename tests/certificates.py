"""The system's certificates, read once for all clients that tests make.

Whoever makes an HTTP client reads them anew, some 200 KB, and that takes longer than most tests. Tests talk to
this machine without TLS; those about TLS bring certificates of their own.
"""

from __future__ import annotations

import os
import ssl
from functools import cache

import httpcore2

_read = httpcore2.default_ssl_context


def read_once() -> None:
    """Let clients that say nothing about certificates share one context."""
    httpcore2.default_ssl_context = _shared


def _shared(*, _trust_env: bool = True) -> ssl.SSLContext:
    places = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return _context(_trust_env, places)


@cache
def _context(trust_env: bool, places: tuple[str | None, str | None]) -> ssl.SSLContext:
    return _read(_trust_env=trust_env)
