"""A call while its server works on it: progress goes to the caller, questions too."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from typing import Any, Final

from tools.contracts import CallContext
from tools.errors import ControlPlaneError

logger = logging.getLogger(__name__)

_KEY: Final = "elicitation"
_ACTIONS: Final = frozenset({"accept", "decline", "cancel"})
# Notices that wait for a slow caller; newer ones are dropped beyond that.
MOST_WAITING: Final = 100


class Inflight:
    """What connects one request to the call it serves."""

    __slots__ = ("_context", "_notices", "_telling", "unasked")

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._notices: asyncio.Queue[tuple[float, float | None, str]] | None = None
        self._telling: asyncio.Task[None] | None = None
        # Whether the server had a question that nobody could be asked.
        self.unasked = False

    def progressed(self, params: Mapping[str, Any]) -> None:
        """Tell the caller, in the order in which the server told us."""
        done, total = params.get("progress"), params.get("total")
        if self._context.progress is None or not isinstance(done, int | float):
            return
        if self._notices is None:
            self._notices = asyncio.Queue(MOST_WAITING)
            self._telling = asyncio.create_task(self._tell(self._notices))
        said = params.get("message")
        with contextlib.suppress(asyncio.QueueFull):
            self._notices.put_nowait(
                (
                    float(done),
                    float(total) if isinstance(total, int | float) else None,
                    said if isinstance(said, str) else "",
                )
            )

    async def told(self) -> None:
        """Wait until the caller has heard of all progress: its answer comes after that."""
        if self._notices is not None:
            await self._notices.join()

    async def elicit(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the caller's user says to a question; `cancel` when nobody can be asked."""
        if self._context.asking is None:
            self.unasked = True
            return {"action": "cancel"}
        question = {_KEY: {"method": "elicitation/create", "params": dict(params)}}
        try:
            answers = await self._context.ask(question)
        except ControlPlaneError as fault:
            logger.info("The caller could not be asked: %s", fault.message)
            self.unasked = True
            return {"action": "cancel"}
        answer = answers.get(_KEY)
        sound = isinstance(answer, Mapping) and answer.get("action") in _ACTIONS
        return answer if isinstance(answer, Mapping) and sound else {"action": "cancel"}

    def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()

    async def _tell(self, notices: asyncio.Queue[tuple[float, float | None, str]]) -> None:
        while True:
            done, total, message = await notices.get()
            try:
                await self._context.report(done, total, message)
            except Exception as fault:  # noqa: BLE001 - whoever does not hear it gets its answer
                logger.info("A caller was not told of progress: %s", fault)
            finally:
                notices.task_done()
