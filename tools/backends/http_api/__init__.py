"""Tools that are requests to HTTP APIs."""

from __future__ import annotations

from tools.backends.http_api.backend import HttpApiBackend

__all__ = ["HttpApiBackend"]
