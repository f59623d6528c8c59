"""Adapters by name: what the binding of a tool may say under `adapter`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools.backends.http_api.adapters.nsip import NSIP_ADAPTERS
from tools.backends.http_api.fetching import Adapter

ADAPTERS: Final[Mapping[str, Adapter]] = {**NSIP_ADAPTERS}

__all__ = ["ADAPTERS"]
