"""The worker's side of queries: claim one, say how far it is, hand in the reply.

Workers run one query at a time and wait for Redis while they do, so this is the blocking client.

Redis down: a query that cannot be claimed is not run (its message comes again); what is told about
one under way is lost; handing in a reply is tried for as long as somebody may still want it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from tools.guards.queries import (
    LEASE_SECONDS,
    PRESENT_SECONDS,
    PROCESSES,
    STEP,
    channel,
    present_key,
    query_keys,
    wake_key,
)
from tools.guards.redis import load_script

logger = logging.getLogger(__name__)

COMMAND_SECONDS: Final = 2.0
CLAIM_PATIENCE: Final = 2.0
TRY_EVERY: Final = 0.2
# Whoever was not listening when a reply came finds it for so long.
REPLY_SECONDS: Final = 120
_T = TypeVar("_T")


class QueryRuns:
    """What one worker process tells Redis. Safe to use from its two threads."""

    def __init__(self, url: str, runner: str) -> None:
        self.runner = runner
        self._client = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_connect_timeout=COMMAND_SECONDS,
            socket_timeout=COMMAND_SECONDS,
            # A connection that died while idle is replaced; an outage is dealt with here.
            retry=Retry(NoBackoff(), 1),
        )
        self._step = self._client.register_script(STEP)
        self._be_present = self._client.register_script(load_script("be_present"))

    def claim(self, query_id: str, about: Mapping[str, Any]) -> bool:
        """Take a query. False when it is not to be run: taken, answered or not wanted any more.

        Raises:
            RedisError: when Redis stays away.
        """
        lease = int(LEASE_SECONDS * 1000)
        text = json.dumps(about)
        taken = _patiently(
            CLAIM_PATIENCE, lambda: self._run(query_id, "claim", self.runner, lease, text)
        )
        return bool(taken)

    def beat(self, query_id: str, asker: str) -> int:
        """Renew the claim. How many processes listen for the reply; below 0: stop.

        Raises:
            RedisError: when Redis is away.
        """
        lease = int(LEASE_SECONDS * 1000)
        return int(self._run(query_id, "beat", self.runner, lease, channel(asker)))

    def tell(
        self, query_id: str, about: Mapping[str, Any], asker: str, news: Mapping[str, Any] | None
    ) -> bool:
        """Say what is being done, to the asker too where it wants to know. False: stop."""
        message = json.dumps({"task": query_id, **news}) if news else ""
        try:
            return bool(
                self._run(query_id, "tell", self.runner, json.dumps(about), channel(asker), message)
            )
        except RedisError as fault:
            logger.warning("Query %s goes on unseen: %s", query_id, type(fault).__name__)
            return True

    def finish(self, query_id: str, asker: str, reply: Mapping[str, Any], patience: float) -> bool:
        """Hand in the reply. False when nobody wanted it any more.

        Raises:
            RedisError: when Redis stays away.
        """
        text = json.dumps({"task": query_id, **reply}, allow_nan=False)
        wanted = _patiently(
            patience,
            lambda: self._run(query_id, "finish", self.runner, channel(asker), text, REPLY_SECONDS),
        )
        return bool(wanted)

    def be_present(self, queues: Sequence[str], about: Mapping[str, Any]) -> None:
        """Say that this process takes queries from `queues`.

        Raises:
            RedisError: when Redis is away.
        """
        self._say(queues, PRESENT_SECONDS, about)

    def be_gone(self, queues: Sequence[str]) -> None:
        """Say that it does not any more."""
        try:
            self._say(queues, 0, {})
        except RedisError as fault:
            logger.debug("Its presence lapses by itself: %s", type(fault).__name__)

    def woken(self, seconds: float) -> str | None:
        """Wait for word that a query is not wanted any more; which one, or None.

        Raises:
            RedisError: when Redis is away.
        """
        found: Any = self._client.blpop([wake_key(self.runner)], seconds)
        return str(found[1]) if found else None

    def close(self) -> None:
        self._client.close()

    def _say(self, queues: Sequence[str], seconds: float, about: Mapping[str, Any]) -> None:
        keys = [PROCESSES, *(present_key(queue) for queue in queues)]
        self._be_present(keys, [self.runner, seconds, json.dumps(about)])

    def _run(self, query_id: str, step: str, *arguments: str | float) -> Any:
        return self._step(query_keys(query_id), [step, query_id, *arguments])


def _patiently(seconds: float, work: Callable[[], _T]) -> _T:
    """Do `work`, again and again while Redis is away; what is done twice does no harm."""
    limit = time.monotonic() + seconds
    while True:
        try:
            return work()
        except RedisError:
            if time.monotonic() > limit:
                raise
            time.sleep(TRY_EVERY)
