"""The backend of pipelines: a query goes to a worker, its answer comes back, or a reason why not."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from redis.exceptions import RedisError

from tools.backends.pipeline.messages import QueryMessage, overdue, read_fault
from tools.backends.pipeline.replies import Ending, Replies, Ticket
from tools.backends.ports import ports
from tools.contracts import BackendResult, CallContext, ToolSpec
from tools.errors import ControlPlaneError, ExecutionFailed, ServiceUnavailable
from tools.guards.redis import RedisDown, RedisLink
from tools.techniques import queue_of

logger = logging.getLogger(__name__)

# Hands a query to the workers: its id, its queue, the message. Blocks; raises what the broker does.
Send = Callable[[str, str, Mapping[str, Any]], None]
SEND_SECONDS: Final = 3.0
# How long a worker is given to say that it stopped. It does so within a millisecond or two, unless
# it is deep in a computation; the slot of the query is free afterwards in any case.
STOP_SECONDS: Final = 0.25
# A query whose worker was lost is sent once more, when there is at least this much time left.
MOST_ATTEMPTS: Final = 2
WORTH_TRYING: Final = 0.5
# Handing a message to the broker blocks its thread.
_broker = ThreadPoolExecutor(max_workers=4, thread_name_prefix="query-broker")


class PipelineBackend:
    """Serves the tools of source pipeline. One for the process; its letter box is per event loop."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._replies: Replies | None = None
        self._link: RedisLink | None = None

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        _check(spec)
        try:
            replies = await self._letter_box()
            return BackendResult(data=await self._ask(replies, spec, arguments, context))
        except (RedisDown, RedisError) as fault:
            raise _away() from fault

    async def _letter_box(self) -> Replies:
        link = ports.link
        if link is None:
            raise RedisDown("this process has no way to the workers")
        if self._replies is None or self._link is not link:
            self._replies, self._link = Replies(link), link
            ports.endings.append(self._replies.close)
        replies = self._replies
        if not link.available:
            raise RedisDown("Redis is away")
        await replies.open()
        return replies

    async def _ask(
        self,
        replies: Replies,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> Any:
        """Send the query, and once more should its worker be lost."""
        losses = 0
        while True:
            heard = await self._attempt(replies, spec, arguments, context)
            if not isinstance(heard, Ending):
                return _answer(heard, spec, context)
            losses += heard is Ending.LOST
            again = heard in {Ending.LOST, Ending.UNTAKEN} and losses < MOST_ATTEMPTS
            if not again or context.deadline.remaining() < WORTH_TRYING:
                raise _failure(heard, spec, context)
            logger.warning("A query of %s is sent again: %s", spec.name, heard)

    async def _attempt(
        self,
        replies: Replies,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> Mapping[str, Any] | Ending:
        ticket = replies.expect(queue_of(spec.binding["pipeline"]))
        ended = False
        try:
            message = QueryMessage.of(spec, arguments, context, replies.asker)
            await self._hand_over(ticket, message.to_wire())
            heard = await _hear(ticket, context)
            ended = not isinstance(heard, Ending) or heard is Ending.LATE
            return heard
        finally:
            await _leave(replies, ticket, ended=ended)

    async def _hand_over(self, ticket: Ticket, message: Mapping[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await loop.run_in_executor(
                    _broker, self._send, ticket.query_id, ticket.queue, message
                )
        except Exception as fault:
            logger.warning("A query cannot be handed to the workers: %r", fault)
            raise _away() from fault
        ticket.sent_at = time.monotonic()


async def _hear(ticket: Ticket, context: CallContext) -> Mapping[str, Any] | Ending:
    """The reply or the ending; what comes before goes to the caller."""
    told = 0
    while True:
        heard = await ticket.news.get()
        if isinstance(heard, Ending) or "stage" not in heard:
            return heard
        told += 1
        await context.report(told, None, f"{heard['stage']}: {heard['message']}")


async def _leave(replies: Replies, ticket: Ticket, *, ended: bool) -> None:
    """Remove what is left of a query; tell its worker, if there may be one, that it can stop."""
    try:
        if not ended and await asyncio.shield(replies.queries.cancel(ticket.query_id)):
            async with asyncio.timeout(STOP_SECONDS):
                await _last_word(ticket)
        await asyncio.shield(replies.queries.forget(ticket.query_id))
    except TimeoutError:
        logger.warning("The worker at query %s did not stop at once", ticket.query_id)
    except (RedisDown, RedisError):
        # It stops by itself: its reply expires, and at its own limit it is killed.
        logger.debug("Query %s is left to itself", ticket.query_id)
    finally:
        replies.forget(ticket)


async def _last_word(ticket: Ticket) -> None:
    while not isinstance(heard := await ticket.news.get(), Ending) and "stage" in heard:
        pass


def _answer(reply: Mapping[str, Any], spec: ToolSpec, context: CallContext) -> Any:
    if "answer" in reply:
        return reply["answer"]
    if "fault" in reply:
        raise read_fault(reply["fault"])
    raise overdue(spec, context)


def _check(spec: ToolSpec) -> None:
    """Refuse what no worker could answer.

    Raises:
        ServiceUnavailable: there is nothing to search.
    """
    if not spec.binding:
        raise ServiceUnavailable(
            f"{spec.name} has no pipeline", 60, "Tell the operator: configure its pipeline"
        )
    if spec.binding.get("index") is None:
        corpus = spec.binding["corpus"]
        raise ServiceUnavailable(
            f"{spec.name} is not initialised: the corpus {corpus} has no index yet",
            60,
            f"Tell the operator: ingest documents into the corpus {corpus}",
        )


def _failure(ending: Ending, spec: ToolSpec, context: CallContext) -> ControlPlaneError:
    match ending:
        case Ending.LATE:
            return overdue(spec, context)
        case Ending.NOBODY:
            return ServiceUnavailable(
                f"{spec.name} cannot run now: no worker for pipelines is running",
                10,
                "Try again in 10 s; if it stays so, tell the operator to start the pipelines worker",
            )
        case Ending.AWAY:
            return _away()
        case Ending.LOST | Ending.UNTAKEN:
            return ServiceUnavailable(f"The worker that ran {spec.name} was lost", 1)
        case Ending.BROKEN:
            return ExecutionFailed(f"The worker could not run {spec.name}")


def _away() -> ServiceUnavailable:
    return ServiceUnavailable("Pipelines cannot be reached now: Redis is unavailable", 5)
