"""What stands for a definition in the keys of the cache, so that a changed one begins without answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

# With the binding all that decides what a call is answered.
DECISIVE: Final = ("source", "handler", "input_schema", "output_schema")
# How the other side is treated and told of: the same answer comes sooner, later or not at all.
OTHER_SIDE: Final = ("service", "server")
MANNERS: Final = frozenset(
    {"timeout_seconds", "retries", "rate_per_minute"}
    | {"connect_timeout", "call_timeout", "connect_at_start", "idle_seconds", "memory_mb"}
    | {"display_name", "unavailable_message"}
)
# Applied to what the cache gives.
AFTERWARDS: Final = ("rules",)
LENGTH: Final = 16


def definition_mark(row: Any, binding: Mapping[str, Any]) -> str:
    """The mark of a tool: the same in all processes, and another one whenever answers may differ.

    Secrets are in it as the catalogue has them, encrypted, and only as part of the hash.
    """
    decisive = {name: getattr(row, name) for name in DECISIVE}
    bound = {
        name: _other_side(value) if name in OTHER_SIDE else value
        for name, value in binding.items()
        if name not in AFTERWARDS
    }
    text = json.dumps([decisive, bound], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def _other_side(known: Any) -> dict[str, Any]:
    """A service or a server as JSON, without manners."""
    values = known if isinstance(known, Mapping) else asdict(known)
    return {name: value for name, value in values.items() if name not in MANNERS}
