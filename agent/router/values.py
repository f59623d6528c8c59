"""What goes into the router and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as a client sees it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """The tool for a message. `missing` are required arguments that the message does not tell."""

    tool: str
    arguments: Mapping[str, Any]
    missing: tuple[str, ...]
    reason: str
    score: float
