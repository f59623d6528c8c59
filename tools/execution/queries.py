"""The worker's part of a query: claim it, run its pipeline, hand in the answer.

Each worker process runs one query at a time, in its main thread. A second thread renews the claim,
says that the process is there, and listens for word that the query is not wanted any more; then it
interrupts the main thread, which stays warm for the next query. A process that cannot be
interrupted is killed at the hard limit.
"""

from __future__ import annotations

import gc
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any, Final

from celery.exceptions import SoftTimeLimitExceeded
from redis.exceptions import RedisError

from tools.backends.pipeline.messages import KILL_AFTER, QueryMessage, write_fault
from tools.conf import ServiceSettings, deployment
from tools.contracts import Credentials, ToolCall, ToolSource
from tools.errors import ControlPlaneError, ExecutionFailed, InternalFault
from tools.execution.aim import aim
from tools.execution.background import background
from tools.execution.execute import execute
from tools.execution.runtime import serving
from tools.execution.spans import tell_query
from tools.guards.query_runs import QueryRuns
from tools.pipelines.contracts import BlockUnavailable, IndexSpec, QueryCancelled, Stage
from tools.pipelines.manager import memory_bytes, pipeline_manager
from tools.pipelines.run import run_query
from tools.selectors import service_settings
from tools.selectors.specs import active_indexes
from tools.tracing import Spans, Work, begin_spans, start_tracing, stop_tracing

logger = logging.getLogger(__name__)

__all__ = ["KILL_AFTER", "answer_query", "start_process", "stop_process"]

BEAT_SECONDS: Final = 0.5
# Nobody has listened for so long: the process that asked is gone, or was for too long.
DESERTED_SECONDS: Final = 2.0
INTERRUPT: Final = signal.SIGUSR2


@dataclass(slots=True)
class _Running:
    """The query under way. `open` while it may be interrupted; only the main thread says so."""

    query_id: str
    message: QueryMessage
    spans: Spans | None = None
    since: float = field(default_factory=time.time)
    stage: str = "start"
    note: str = ""
    # What operators were last told it does.
    told: str = ""
    open: bool = True
    cancelled: bool = False
    deserted_since: float | None = None

    def about(self) -> dict[str, Any]:
        """What operators see of it."""
        return {
            "pipeline": self.message.pipeline,
            "request_id": self.message.request_id,
            "caller": str(self.message.caller.get("name", "")),
            "stage": self.stage,
            "message": self.note,
            "since": self.since,
            "host": socket.gethostname(),
            "pid": os.getpid(),
        }

    def trace(self) -> Mapping[str, str]:
        """The context for what the query calls."""
        return self.message.trace if self.spans is None else self.spans.outward()


class QueryProcess:
    """What a worker process needs to run queries; one for its life."""

    def __init__(self, url: str, queues: Sequence[str]) -> None:
        self._queues = tuple(queues)
        self._runs = QueryRuns(url, secrets.token_hex(8))
        self._running: _Running | None = None
        self._stopping = threading.Event()
        self._told_at = 0.0
        self._main = threading.get_ident()
        self._beating = threading.Thread(target=self._beat, name="query-claims", daemon=True)

    def start(self) -> None:
        """Be there for queries. To be called by the main thread, which will run them."""
        signal.signal(INTERRUPT, self._interrupted)
        self._beating.start()

    def stop(self) -> None:
        self._stopping.set()
        self._beating.join(2 * BEAT_SECONDS + 1)
        self._runs.be_gone(self._queues)
        self._runs.close()

    def run(self, query_id: str, wire: Mapping[str, Any]) -> None:
        """Answer the query, if it is still to be answered.

        Raises:
            RedisError: when the answer cannot be handed in.
        """
        message = QueryMessage.read(wire)
        spans = begin_spans(f"query {message.pipeline}", message.trace)
        work = Work(message.request_id, message.correlation_id, spans)
        try:
            self._run(_Running(query_id, message, spans))
        finally:
            work.end()

    def _run(self, running: _Running) -> None:
        query_id, message = running.query_id, running.message
        if not self._runs.claim(query_id, running.about()):
            logger.info("Query %s is not to be run", query_id)
            return
        reply = self._reply(running)
        try:
            taken = self._runs.finish(query_id, message.asker, reply, message.seconds + KILL_AFTER)
        finally:
            if running.spans is not None:
                tell_query(running.spans, message, reply)
        if not taken:
            logger.info("Query %s ended when nobody waited any more", query_id)

    def _reply(self, running: _Running) -> dict[str, Any]:
        try:
            try:
                self._running = running
                return {"answer": self._answer(running)}
            finally:
                # From here on nothing is interrupted. An interruption in this very moment is still
                # taken by the handlers below.
                running.open = False
                self._running = None
        except QueryCancelled:
            return {"stopped": True}
        except SoftTimeLimitExceeded:
            logger.warning("A query of %s took too long", running.message.tool)
            return {"late": True}
        except ControlPlaneError as fault:
            return {"fault": write_fault(fault)}
        except MemoryError:
            logger.exception("A query of %s needs too much memory", running.message.tool)
            return {"fault": write_fault(ExecutionFailed("The query needs too much memory"))}
        except Exception:
            logger.exception("Query %s failed on a bug", running.message.request_id)
            return {"fault": write_fault(InternalFault())}

    def _answer(self, running: _Running) -> dict[str, Any]:
        message = running.message
        deadline = time.monotonic() + message.seconds
        return run_query(
            message.pipeline,
            message.arguments,
            defaults=message.defaults,
            index=IndexSpec(**message.index),
            max_tokens=message.max_tokens,
            request_id=message.request_id,
            report=partial(self._report, running),
            call_tool=partial(_call_tool, running, deadline),
            web_search_tool=message.web_search_tool,
            deadline=deadline,
        )

    def _report(self, running: _Running, stage: Stage, note: str) -> None:
        """Runs in the main thread, whenever the query enters a stage.

        Only an asker who follows it is told at once. Operators are told by the other thread: most
        queries are over before anybody could have read it.
        """
        if running.spans is not None and stage.value != running.stage:
            running.spans.enter(stage.value)
        running.stage, running.note = stage.value, note
        wanted = not running.message.wants_progress or self._tell(
            running, {"stage": stage.value, "message": note}
        )
        if running.cancelled or not wanted:
            raise QueryCancelled

    def _tell(self, running: _Running, news: Mapping[str, Any] | None = None) -> bool:
        running.told = running.stage
        return self._runs.tell(running.query_id, running.about(), running.message.asker, news)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Runs in the main thread, between two of its steps."""
        running = self._running
        if isinstance(sys.exc_info()[1], SoftTimeLimitExceeded):
            # It is on its way out already, and what it does on the way shall be done.
            return
        if running is not None and running.open and running.cancelled:
            running.open = False
            raise QueryCancelled

    def _beat(self) -> None:
        while not self._stopping.is_set():
            try:
                unwanted = self._runs.woken(BEAT_SECONDS)
                self._look_after(unwanted)
                if time.monotonic() - self._told_at >= 2 * BEAT_SECONDS:
                    self._told_at = time.monotonic()
                    self._runs.be_present(self._queues, _facts())
            except RedisError as fault:
                logger.debug("Redis is away: %s", type(fault).__name__)
                self._stopping.wait(BEAT_SECONDS)
            except Exception:
                # Without this thread queries count as lost.
                logger.exception("Renewing the claim of a query failed on a bug")
                self._stopping.wait(BEAT_SECONDS)

    def _look_after(self, unwanted: str | None) -> None:
        running = self._running
        if running is None:
            return
        if running.told != running.stage:
            self._tell(running)
        listeners = self._runs.beat(running.query_id, running.message.asker)
        now = time.monotonic()
        if listeners != 0:
            running.deserted_since = None
        elif running.deserted_since is None:
            running.deserted_since = now
        deserted = running.deserted_since
        if (
            unwanted == running.query_id
            or listeners < 0
            or (deserted is not None and now - deserted > DESERTED_SECONDS)
        ):
            running.cancelled = True
            signal.pthread_kill(self._main, INTERRUPT)


def _facts() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "memory_mb": memory_bytes() >> 20,
    }


def _call_tool(running: _Running, until: float, name: str, arguments: Mapping[str, Any]) -> Any:
    """What another tool of this control plane answers to whoever asked the query.

    Raises:
        BlockUnavailable: when it does not.
    """
    message = running.message
    caller = message.known_caller()
    call = ToolCall(
        tool=name,
        arguments=arguments,
        credentials=Credentials(kind=caller.kind),
        transport=message.door(),
        request_id=uuid.uuid4(),
        correlation_id=message.correlation_id or message.request_id,
        caller=caller,
        time_limit=max(0.1, until - time.monotonic()),
        trace=running.trace(),
    )
    answer = background.run(partial(_execute, call))
    if not answer.success:
        raise BlockUnavailable(f"{name} could not be used: {answer.error}")
    return answer.data


async def _execute(call: ToolCall) -> Any:
    catalogue = serving().directory.catalogue
    spec = catalogue.tools.get(aim(call, catalogue).tool)
    if spec is not None and spec.source is ToolSource.PIPELINE:
        # It would wait for a worker process while it holds one.
        raise BlockUnavailable(f"{call.tool} is a pipeline itself, which pipelines cannot call")
    return await execute(call)


_process: QueryProcess | None = None


def start_process(queues: Sequence[str]) -> None:
    """Get this worker process ready for queries: be there, then load models and indexes."""
    global _process  # noqa: PLW0603 - one per process is the point
    _process = QueryProcess(deployment().redis_url, queues)
    _process.start()
    start_tracing(_service_name)
    warm(lambda: [IndexSpec(**spec) for spec in active_indexes().values()])
    # What is loaded by now stays for good; looking through it for garbage would delay queries.
    gc.collect()
    gc.freeze()


def _service_name() -> str:
    try:
        return service_settings().service_name
    except Exception:
        logger.exception("The name of the service cannot be read now")
        return ServiceSettings().service_name


def warm(indexes: Callable[[], Sequence[IndexSpec]]) -> None:
    """Load what the first queries need, as far as that is known."""
    try:
        specs = indexes()
    except Exception:
        logger.exception("Which indexes are in use cannot be read now")
        specs = []
    pipeline_manager().warm(specs)


def stop_process() -> None:
    """Say that this process takes no more queries."""
    global _process  # noqa: PLW0603 - see above
    if _process is not None:
        _process.stop()
        _process = None
        stop_tracing()


def answer_query(query_id: str, message: Mapping[str, Any]) -> None:
    """Answer one query in this process."""
    if _process is None:
        raise RuntimeError("this process was not started for queries")
    _process.run(query_id, message)
