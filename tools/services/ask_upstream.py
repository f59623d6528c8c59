"""A look at an upstream server that a worker takes while a page waits for what comes of it.

The last question about each server and its answer are in Redis for an hour, so that every process
shows the same. One question at a time for each server.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any, Final

from tools.guards.redis import RedisLink
from tools.models import UpstreamServer
from tools.services.asked_upstream import (
    Asked,
    AskState,
    Purpose,
    changed,
    failed,
    from_json,
    settled,
)
from tools.services.look_upstream import LookFault, look, look_limit
from tools.services.over_redis import RedisDown, over_redis, patiently
from tools.services.sync_upstream import UnknownServer
from tools.services.upstream_workers import upstream_workers

__all__ = ["AskFault", "AskState", "Asked", "Purpose", "answer", "ask", "read_asked"]

logger = logging.getLogger(__name__)

Work = Callable[[RedisLink], Coroutine[Any, Any, Any]]

KEY: Final = "cp:upstream-look:{pk}"
KEPT_SECONDS: Final = 3600

NO_REDIS: Final = "Redis cannot be reached, so no worker can be asked. Start it, then try again."
NO_BROKER: Final = "The question could not be handed to the workers. See the log for the reason."
FAILED_ON_A_BUG: Final = "The look failed on a bug. See the worker's log."


class AskFault(Exception):
    """Nobody can be asked now; the message says why."""


def ask(server: UpstreamServer, purpose: Purpose, by: str) -> Asked:
    """Let a worker look at a saved server.

    Raises:
        AskFault: that is not possible, or somebody is at it already.
    """
    question = Asked(uuid.uuid4().hex, purpose, by, time.time(), look_limit(server.connect_timeout))
    try:
        before = read_asked(server.pk)
        if before is not None and before.busy:
            raise AskFault("A look at this server is under way already.")
        _write(server.pk, question)
        _send(server.pk, question)
    except RedisDown as fault:
        raise AskFault(NO_REDIS) from fault
    return question


def read_asked(pk: int) -> Asked | None:
    """The last question about a server; None when nobody asked of late.

    Raises:
        RedisDown: it cannot be read.
    """
    return _read(pk, over_redis)


def answer(ask_id: str, pk: int) -> None:
    """Look, and write down what came of it. Runs in a worker; another question makes this one void.

    Somebody waits for it: a Redis that is away for a moment does not lose the question or the answer.
    """
    question = _read(pk, patiently)
    if question is None or question.id != ask_id or question.state is not AskState.WAITING:
        logger.info("A look at MCP server %d is no longer wanted", pk)
        return
    question = changed(question, state=AskState.RUNNING, began=time.time())
    _write(pk, question, patiently)
    outcome: dict[str, Any]
    try:
        found = look(pk, refresh=question.purpose is Purpose.REFRESH)
        outcome = {"state": AskState.DONE, "found": found.to_json()}
    except LookFault as fault:
        outcome = {"message": str(fault), "error_lines": fault.error_lines}
    except UnknownServer as fault:
        outcome = {"message": str(fault)}
    except BaseException:
        _finish(pk, question, message=FAILED_ON_A_BUG)
        raise
    _finish(pk, question, **outcome)


def _finish(pk: int, question: Asked, **outcome: Any) -> None:
    latest = _read(pk, patiently)
    if latest is None or latest.id == question.id:
        _write(pk, changed(question, **{**failed(), **outcome}), patiently)


def _send(pk: int, question: Asked) -> None:
    try:
        if upstream_workers.send is None:
            raise RuntimeError("this process has no way to the workers")
        upstream_workers.send(question.id, pk, question.limit)
    except Exception as fault:
        logger.warning("A look at MCP server %d could not be sent: %s", pk, fault)
        _write(pk, changed(question, **failed(NO_BROKER)))
        raise AskFault(NO_BROKER) from fault


def _read(pk: int, reach: Callable[[Work], Any]) -> Asked | None:
    text = reach(lambda link: link.command("GET", KEY.format(pk=pk)))
    return None if text is None else settled(from_json(json.loads(text)))


def _write(pk: int, asked: Asked, reach: Callable[[Work], Any] = over_redis) -> None:
    text = json.dumps(asdict(asked))
    reach(lambda link: link.command("SET", KEY.format(pk=pk), text, "EX", KEPT_SECONDS))
