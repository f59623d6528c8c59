"""Wrappers generated in this process, as the command does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tools.services.fetch_tools import Asking
from tools.services.generate_wrappers import Order, Report, generate_into
from tools.wrappers.kinds import parse_kinds
from tools.wrappers.registry import ServiceEntry


async def no_wait(seconds: float) -> None:
    """In place of a pause."""


def generate(
    output: Path,
    *services: tuple[str, str] | ServiceEntry,
    types: str = "",
    asking: Asking | None = None,
    **order: Any,
) -> Report:
    """Wrappers for services, given as names and addresses."""
    entries = [one if isinstance(one, ServiceEntry) else ServiceEntry(*one) for one in services]
    wanted = Order(tuple(entries), parse_kinds([types]), **order)
    return generate_into(output, wanted, asking or Asking(sleep=no_wait))
