"""The router: a message in, a tool with arguments out, and no model in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime
from typing import Final

from agent.router.certainty import sure, unchanged
from agent.router.effects import Effect
from agent.router.evidence import by_evidence
from agent.router.leftovers import left_out, orders_several
from agent.router.message import Message, read
from agent.router.permits import connected, only_asked_how
from agent.router.profile import Catalogue
from agent.router.scoring import LEAST, Scored, points_at, scored
from agent.router.unserved import unserved
from agent.router.values import Choice, Offered

Search = Callable[[str], Awaitable[Sequence[str]]]
LONGEST_SEARCH: Final = 500


def _today() -> date:
    return datetime.now(UTC).astimezone().date()


class Router:
    """Chooses among tools by what they say of themselves.

    `search` names tools for a message, best first; it adds to what the router sees itself and may
    fail. `today` is the day that "tomorrow" is counted from.
    """

    def __init__(
        self,
        tools: Sequence[Offered],
        search: Search | None = None,
        *,
        today: Callable[[], date] = _today,
    ) -> None:
        self._catalogue = Catalogue(tools)
        self._search = search
        self._today = today

    async def route(self, message: str) -> Choice | None:
        """The tool that fits best with what the message tells of its arguments; None when none does."""
        if not message.strip():
            return None
        heard = read(message, self._catalogue.known, self._today())
        found = await self._found(message)
        profiles = self._catalogue.profiles
        unmade = heard.invents and not any(heard.invents in one.weights for one in profiles)
        if (
            heard.dismissed
            or heard.only_denies
            or unmade
            or any(only_asked_how(one, heard) for one in profiles)
        ):
            return None
        pointing = [one for one in profiles if points_at(one, heard)]
        possible = {one.action for one in profiles if one.action and connected(one, heard)}
        fitting = [
            one
            for profile in profiles
            if (
                one := scored(
                    profile, heard, self._catalogue, found, possible, alone=pointing == [profile]
                )
            )
            is not None
        ]
        best = min(
            fitting,
            key=lambda one: (-one.score, len(one.extracted.missing), one.profile.name),
            default=None,
        )
        if best is not None and best.score < LEAST:
            best = None
        guess = by_evidence(heard, profiles, best)
        best = guess or best
        if best is None or (best.profile.effect is Effect.READS and unserved(heard, profiles)):
            return None
        return _choice(best, heard, guessed=guess is not None)

    async def _found(self, message: str) -> Sequence[str]:
        if self._search is None:
            return ()
        try:
            return list(await self._search(message[:LONGEST_SEARCH]))
        except Exception:  # noqa: BLE001 - a search helps; without one the router sees for itself
            return ()


def _choice(best: Scored, heard: Message, *, guessed: bool) -> Choice:
    profile, extracted = best.profile, best.extracted
    reads = profile.effect is Effect.READS
    left = () if reads else left_out(heard, extracted)
    return Choice(
        tool=profile.name,
        arguments=dict(extracted.arguments),
        missing=extracted.missing,
        reason=best.reason,
        score=best.score,
        any_of=unchanged(profile, extracted),
        sure=reads or (not guessed and sure(profile, heard, extracted)),
        reads=reads,
        for_good=profile.effect in (Effect.DESTROYS, Effect.ACTS),
        several=not reads and orders_several(profile, heard, extracted),
        left_out=tuple(heard.text[one.start : one.end] for one in left),
    )
