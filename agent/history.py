"""What was said in the conversations of this process, and nothing that tools answered."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

THREADS: Final = 1000
TURNS: Final = 20
LONGEST_TEXT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Turn:
    """A message and its answer."""

    message: str
    answer: str


class History:
    """The last turns of the conversations that went on last; others are forgotten, and long ones cut."""

    def __init__(self, threads: int = THREADS, turns: int = TURNS) -> None:
        self._most_threads = threads
        self._most_turns = turns
        self._threads: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def of(self, thread_id: str) -> tuple[Turn, ...]:
        return self._threads.get(thread_id, ())

    def add(self, thread_id: str, turn: Turn) -> None:
        kept = Turn(turn.message[:LONGEST_TEXT], turn.answer[:LONGEST_TEXT])
        self._threads[thread_id] = (*self.of(thread_id), kept)[-self._most_turns :]
        self._threads.move_to_end(thread_id)
        while len(self._threads) > self._most_threads:
            self._threads.popitem(last=False)
