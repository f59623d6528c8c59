"""What people were asked back, by conversation, until they answer or it is too long ago."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.replies import Asked
from agent.routing import Choice

WAITING: Final = 1000
# Whoever says yes later may mean something else.
ANSWER_SECONDS: Final = 600.0


class Pending:
    """The last question of each conversation; of very many conversations, of those that were asked last."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._asked: dict[str, Asked] = {}

    def put(self, thread_id: str, message: str, choice: Choice) -> None:
        self._asked[thread_id] = Asked(message, choice, self._clock())
        while len(self._asked) > WAITING:
            self._asked.pop(next(iter(self._asked)))

    def pop(self, thread_id: str) -> Asked | None:
        """What was asked last there, once; None where that is too long ago."""
        asked = self._asked.pop(thread_id, None)
        fresh = asked is not None and self._clock() - asked.at <= ANSWER_SECONDS
        return asked if fresh else None
