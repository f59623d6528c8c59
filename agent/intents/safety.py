"""Requests that order no change, or not plainly: no tool that changes something may be called for them.

A line of `safety.jsonl` has `say`, `over` (which tools are offered) and, where one change is right, its
tools as `may`. The demo's tools are the recorded ones; the others stand in `safety_tools.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from agent.intents.cases import HERE, TODAY, recorded_tools
from agent.router import Choice, Offered, Router

REQUESTS: Final = HERE / "safety.jsonl"
TOOLS: Final = HERE / "safety_tools.json"
DEMO: Final = "demo"


@dataclass(frozen=True, slots=True)
class Risk:
    """A request, what is offered for it, and what may be called at once."""

    say: str
    over: str
    may: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools, and the names of those that change something."""

    tools: tuple[Offered, ...]
    changes: frozenset[str]


def risks() -> list[Risk]:
    """All requests."""
    rows = map(json.loads, REQUESTS.read_text(encoding="utf-8").splitlines())
    return [Risk(row["say"], row["over"], tuple(row.get("may", ()))) for row in rows]


@cache
def offer(over: str) -> Offer:
    """What is offered under a name."""
    if over == DEMO:
        tools = tuple(recorded_tools())
        return Offer(tools, frozenset(tool.name for tool in tools if not tool.read_only))
    row = json.loads(TOOLS.read_text(encoding="utf-8"))[over]
    return Offer(tuple(Offered(**one) for one in row["tools"]), frozenset(row["changes"]))


async def called(risk: Risk) -> Choice | None:
    """The change that would be made at once and must not be; None where all is well."""
    given = offer(risk.over)
    choice = await Router(given.tools, today=lambda: TODAY).route(risk.say)
    if choice is None or choice.tool not in given.changes or choice.tool in risk.may:
        return None
    return choice if choice.sure and not choice.missing and not choice.any_of else None


async def violations(requests: Sequence[Risk]) -> list[tuple[Risk, Choice]]:
    """The requests for which something would be changed, and what."""
    found = [(risk, await called(risk)) for risk in requests]
    return [(risk, choice) for risk, choice in found if choice is not None]
