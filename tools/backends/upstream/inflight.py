"""A call while its server works on it: progress goes to the caller, questions too."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from tools.contracts import CallContext, Round
from tools.errors import ControlPlaneError

logger = logging.getLogger(__name__)

ELICIT: Final = "elicitation/create"
_ACTIONS: Final = frozenset({"accept", "decline", "cancel"})
# Notices that wait for a slow caller; newer ones are dropped beyond that.
MOST_WAITING: Final = 100
MOST: Final = 1e300


def answered(round_: Round | None) -> dict[str, Any]:
    """All that a caller has answered in the legs of its call so far, by the name of the question."""
    if round_ is None:
        return {}
    try:
        earlier = json.loads(round_.state or "{}")
    except ValueError:
        earlier = {}
    return {**(earlier if isinstance(earlier, dict) else {}), **round_.responses}


def _number(value: Any) -> float | None:
    """`value` as a measure; None when it is no number that can be told."""
    if not isinstance(value, int | float) or not -MOST <= value <= MOST:
        return None
    return float(value)


class Inflight:
    """What connects one request to the call it serves."""

    __slots__ = ("_asked", "_askers", "_context", "_notices", "_telling", "unasked")

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._notices: asyncio.Queue[tuple[float, float | None, str]] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._askers: set[asyncio.Future[Any]] = set()
        # How often each question was asked.
        self._asked: dict[str, int] = {}
        # Questions of the server that nobody could be asked so far, by name.
        self.unasked: dict[str, Any] = {}

    def progressed(self, params: Mapping[str, Any]) -> None:
        """Tell the caller, in the order in which the server told us."""
        done, total = _number(params.get("progress")), _number(params.get("total"))
        if self._context.progress is None or done is None:
            return
        if self._notices is None:
            self._notices = asyncio.Queue(MOST_WAITING)
            self._telling = asyncio.create_task(self._tell(self._notices))
        said = params.get("message")
        with contextlib.suppress(asyncio.QueueFull):
            self._notices.put_nowait((done, total, said if isinstance(said, str) else ""))

    async def told(self) -> None:
        """Wait until the caller has heard of all progress: its answer comes after that."""
        if self._notices is not None:
            await self._notices.join()

    async def elicit(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the caller's user says to a question; `cancel` when nobody can be asked.

        A caller that takes questions for an answer has perhaps answered this one already, in an
        earlier leg of its call: the tool asked it then, was told `cancel`, and runs again now.
        """
        question = {"method": ELICIT, "params": dict(params)}
        name = self._name(params)
        if self._context.asking is None:
            answers: Mapping[str, Any] = answered(self._context.round)
        else:
            answers = await self._ask(name, question)
        answer = answers.get(name)
        if isinstance(answer, Mapping) and answer.get("action") in _ACTIONS:
            return answer
        self.unasked[name] = question
        return {"action": "cancel"}

    async def _ask(self, name: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        asking = asyncio.ensure_future(self._context.ask({name: question}))
        self._askers.add(asking)
        try:
            return await asking
        except ControlPlaneError as fault:
            logger.info("The caller could not be asked: %s", fault.message)
            return {}
        finally:
            self._askers.discard(asking)

    def _name(self, params: Mapping[str, Any]) -> str:
        """What a question is known by; the same words may be asked several times."""
        digest = hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()[:16]
        self._asked[digest] = self._asked.get(digest, 0) + 1
        return f"question_{digest}_{self._asked[digest]}"

    def close(self) -> None:
        """The call is over; nobody waits for what is still to be told or asked."""
        for asking in self._askers:
            asking.cancel()
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
