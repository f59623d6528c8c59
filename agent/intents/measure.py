"""How often a chooser is right, in all and by family."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.intents.cases import Case
from agent.router import Choice, Offered

Chooser = Callable[[str, Sequence[Offered]], Awaitable[Choice | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a chooser made of one request."""

    case: Case
    choice: Choice | None
    right_tool: bool
    right_arguments: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts over some requests."""

    requests: int
    right_tool: int
    right_arguments: int

    @property
    def tool_percent(self) -> float:
        return 100 * self.right_tool / self.requests if self.requests else 0.0

    @property
    def arguments_percent(self) -> float:
        return 100 * self.right_arguments / self.requests if self.requests else 0.0


async def measure(
    choose: Chooser, cases: Sequence[Case], tools: Sequence[Offered]
) -> list[Outcome]:
    """Put every request to the chooser, one after the other."""
    by_name = {tool.name: tool for tool in tools}
    outcomes = []
    for case in cases:
        began = time.perf_counter()
        choice = await choose(case.say, tools)
        seconds = time.perf_counter() - began
        right = case.has_right_tool(choice), case.has_right_arguments(choice, by_name)
        outcomes.append(Outcome(case, choice, *right, seconds))
    return outcomes


def figures(outcomes: Sequence[Outcome]) -> Figures:
    return Figures(
        len(outcomes),
        sum(one.right_tool for one in outcomes),
        sum(one.right_arguments for one in outcomes),
    )


def by_family(outcomes: Sequence[Outcome]) -> dict[str, Figures]:
    """The figures of each family, in the order they first appear."""
    families = Counter(one.case.family for one in outcomes)
    return {
        family: figures([one for one in outcomes if one.case.family == family])
        for family in families
    }


def table(outcomes: Sequence[Outcome]) -> str:
    """The figures for people."""
    lines = [f"{'family':10} {'requests':>8} {'right tool':>11} {'and arguments':>14}"]
    rows = [*by_family(outcomes).items(), ("all", figures(outcomes))]
    lines += [
        f"{name:10} {one.requests:8} {one.tool_percent:9.1f} % {one.arguments_percent:12.1f} %"
        for name, one in rows
    ]
    if outcomes:
        median = statistics.median(one.seconds for one in outcomes)
        lines.append(f"median {median * 1000:.1f} ms a request")
    return "\n".join(lines)


def failures(outcomes: Sequence[Outcome]) -> str:
    """What went wrong, request by request."""
    return "\n".join(_failure(one) for one in outcomes if not one.right_arguments)


def _failure(one: Outcome) -> str:
    wanted = f"{one.case.tool} {dict(one.case.arguments)}"
    choice = one.choice
    got = f"{choice.tool} {dict(choice.arguments)}" if choice else "None"
    because = f"\n    because {choice.reason}" if choice else ""
    what = "arguments" if one.right_tool else "tool"
    return f"wrong {what}: {one.case.say}\n    wanted  {wanted}\n    got     {got}{because}"
