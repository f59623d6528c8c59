"""Tells a server that is frozen from one whose tool takes long.

Beside a call that takes longer than a second its server is asked for a sign of life (`ping`); any answer is
one. Silence alone proves nothing: a server with one thread cannot answer while it works, and must not be cut
off. Nor can it open the stream of its answer then, whatever it did for other answers. So silence counts only
where the server answered such requests before while it worked on the same tool, and on as many calls as now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

# All that passes until a server counts as frozen: with its farewell less than 5 s.
PAUSE_SECONDS: Final = 1.0
# In steps: a machine that slept for minutes has then waited for one of them.
STEP_SECONDS: Final = 0.5
STEPS: Final = 5
SILENT: Final = "it has stopped answering anything"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a server: `awake` are the tools during which it answers other requests, with the number
    of calls that it worked on then; `working` are those that are being called."""

    awake: dict[str, int] = field(default_factory=dict)
    working: list[str] = field(default_factory=list)


class Pulse:
    """Watches one call of a tool. `ping` says whether it was answered."""

    def __init__(
        self,
        tool: str,
        known: Known,
        ping: Callable[[], Awaitable[bool]],
        gone: Callable[[Exception], None],
    ) -> None:
        self._tool = tool
        self._known = known
        self._ping = ping
        self._gone = gone
        self._pieces = 0
        self._task = asyncio.create_task(self._watch())

    def heard(self) -> None:
        """A piece of the answer came, or its head."""
        self._pieces += 1

    def stop(self) -> None:
        """The call is over."""
        self._task.cancel()

    async def _watch(self) -> None:
        self._known.working.append(self._tool)
        try:
            await self._listen()
        finally:
            self._known.working.remove(self._tool)

    async def _listen(self) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        while True:
            calls = len(self._known.working)
            ping = asyncio.ensure_future(self._ping())
            try:
                if not await self._is_answered(ping):
                    self._gone(ConnectionError(SILENT))
                    return
                answered = await ping
            finally:
                ping.cancel()
            await asyncio.sleep(PAUSE_SECONDS)
            # Not before: what was answered as the work ended says nothing of the time before.
            if answered:
                self._answers_beside(min(calls, len(self._known.working)))

    async def _is_answered(self, ping: asyncio.Future[bool]) -> bool:
        """Wait for an answer; False when it should have come by now."""
        silent = 0
        pieces = self._pieces
        while not ping.done():
            await asyncio.wait({ping}, timeout=STEP_SECONDS)
            silent = silent + 1 if pieces == self._pieces and self._could_answer() else 0
            pieces = self._pieces
            if silent >= STEPS and not ping.done():
                return False
        return True

    def _answers_beside(self, calls: int) -> None:
        self._known.awake[self._tool] = max(calls, self._known.awake.get(self._tool, 0))

    def _could_answer(self) -> bool:
        """Whether it answered before while it worked on just this much: other calls may keep it busy, too."""
        working = list(self._known.working)
        return all(self._known.awake.get(tool, 0) >= len(working) for tool in working)
