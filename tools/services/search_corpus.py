"""A search inside a corpus, for people: a worker that has the models searches, the page waits a little.

Web processes hold no models. The question goes to a worker of the pipelines, whose answer is in Redis for
a minute.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.guards.queries import Queries
from tools.guards.redis import RedisLink
from tools.models import Corpus, IndexVersion
from tools.models.corpora import VersionState
from tools.services.over_redis import RedisDown, over_redis
from tools.services.search_workers import search_workers
from tools.techniques import queue_of, techniques

logger = logging.getLogger(__name__)

KEY: Final = "cp:corpus-search:{id}"
KEPT_SECONDS: Final = 60
# For the answer to be there; a worker that is busy with a query is free within that, or another is.
WAIT_SECONDS: Final = 10
LOOK_EVERY: Final = 0.03
LONGEST_QUERY: Final = 500

NO_INDEX: Final = "There is no index to search yet. Add documents and build one."
NO_REDIS: Final = "Redis cannot be reached, so no worker can be asked. Start it, then search again."
NO_WORKER: Final = (
    "No worker that takes queries is running. `manage.py up` starts them; "
    "`manage.py services status` shows them."
)
NO_BROKER: Final = "The question could not be handed to the workers. See the log for the reason."
LATE: Final = f"No answer within {WAIT_SECONDS} s: the workers are busy. Search again."


class SearchFault(Exception):
    """Nothing could be searched; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage. `pieces` are its text in parts, each with whether it is a word of the question."""

    document: str
    title: str
    heading: str
    page: int | None
    score: float
    pieces: Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Searched:
    """What was found in which index version, the best first."""

    version: int
    passages: int
    seconds: float
    hits: Sequence[Hit]


def search_corpus(corpus: Corpus, text: str) -> Searched:
    """The passages of the index in use that fit `text` best, by meaning and words.

    Raises:
        SearchFault: there is no index, nobody to ask, or no answer in time.
    """
    query = " ".join(text.split())[:LONGEST_QUERY]
    if not query:
        raise SearchFault("Type what to look for.")
    in_use = IndexVersion.objects.filter(corpus=corpus, state=VersionState.ACTIVE)
    if not in_use.exists():
        raise SearchFault(NO_INDEX)
    ask_id = uuid.uuid4().hex
    began = time.monotonic()
    try:
        _send(over_redis(_present), ask_id, corpus.pk, query)
        told = over_redis(lambda link: _answer(link, ask_id))
    except RedisDown as fault:
        raise SearchFault(NO_REDIS) from fault
    if told is None:
        raise SearchFault(LATE)
    if told.get("error"):
        raise SearchFault(told["error"])
    hits = [Hit(**{**hit, "pieces": [tuple(one) for one in hit["pieces"]]}) for hit in told["hits"]]
    return Searched(told["version"], told["passages"], time.monotonic() - began, hits)


def keep_answer(ask_id: str, told: Mapping[str, Any]) -> None:
    """Leave the answer where whoever asked looks for it."""
    text = json.dumps(told)

    async def work(link: RedisLink) -> None:
        await link.command("SET", KEY.format(id=ask_id), text, "EX", KEPT_SECONDS)

    over_redis(work)


async def _present(link: RedisLink) -> str | None:
    """A queue that somebody takes queries from."""
    queries = Queries(link)
    for name in techniques.names():
        if await queries.present(queue_of(name)):
            return queue_of(name)
    return None


def _send(queue: str | None, ask_id: str, corpus_id: int, query: str) -> None:
    if queue is None:
        raise SearchFault(NO_WORKER)
    try:
        if search_workers.send is None:
            raise RuntimeError("this process has no way to the workers")
        search_workers.send(queue, ask_id, corpus_id, query, WAIT_SECONDS)
    except Exception as fault:
        logger.warning("A search in corpus %d could not be sent: %s", corpus_id, fault)
        raise SearchFault(NO_BROKER) from fault


async def _answer(link: RedisLink, ask_id: str) -> dict[str, Any] | None:
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        text = await link.command("GETDEL", KEY.format(id=ask_id))
        if text is not None:
            told: dict[str, Any] = json.loads(text)
            return told
        await asyncio.sleep(LOOK_EVERY)
    return None
