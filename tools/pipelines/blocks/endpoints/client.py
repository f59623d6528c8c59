"""One request to a model's API: its JSON answer, or its stream of events.

Every request has a time limit for the whole of it, and `tick` is called at least twice a second
meanwhile; what it raises ends the request. Nothing is repeated, except a request that the API cannot
have seen (see `line`).
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty
from types import TracebackType
from typing import Any, Final

from tools.conf import Endpoint, deployment
from tools.context.redact import REDACTED, redact_text
from tools.pipelines.blocks.endpoints import line as lines
from tools.pipelines.blocks.endpoints.breaker import guarded
from tools.pipelines.blocks.endpoints.faults import (
    EndpointDown,
    EndpointRefused,
    EndpointTimeout,
)
from tools.pipelines.blocks.endpoints.line import CONNECT_TIMEOUT, Head, Inbox, Request, Trouble

logger = logging.getLogger(__name__)

TICK: Final = 0.5
LONGEST_WAIT: Final = 600.0
GRACE: Final = 0.1
LONGEST_COMPLAINT: Final = 300
# Statuses below 500 that say "later" rather than "not this".
OVERLOADED: Final = frozenset({408, 425, 429})
# Parameters of requests that some models do not take; they are named in the refusal.
OPTIONAL: Final = ("max_tokens", "temperature", "stream_options")


@dataclass(frozen=True, slots=True)
class Api:
    """An API of a deployment: the name of its breaker, and what callers know it as."""

    name: str
    title: str
    endpoint: Endpoint


def llm_api() -> Api:
    return Api("llm_api", "The language model", deployment().rag.llm)


def embeddings_api() -> Api:
    return Api("embeddings_api", "The embedding model", deployment().rag.embeddings)


def rerank_api() -> Api:
    return Api("rerank_api", "The reranker", deployment().rag.rerank)


def nothing() -> None:
    """For requests that nobody watches."""


class Answer:
    """The answer to a request, as far as it has come."""

    def __init__(self, api: Api, timeout: float, tick: Callable[[], None]) -> None:
        self._api = api
        self._timeout = timeout
        self._tick = tick
        self._inbox = Inbox()
        self._limit = time.monotonic() + timeout
        self._due = time.monotonic() + TICK
        self._line = lines.idle.take(api.endpoint.url)
        self._ended = False
        self.content_type = ""

    def __enter__(self) -> Answer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._ended:
            lines.idle.give(self._api.endpoint.url, self._line)
        else:
            self._line.cut()

    def ask(self, path: str, payload: Mapping[str, Any], accept: str) -> None:
        """Send the request and wait for the head of an answer that is none of an error."""
        endpoint = self._api.endpoint
        if not (endpoint.key.isascii() and endpoint.key.isprintable()):
            raise EndpointRefused(f"{self._api.title} has a key that cannot be sent")
        headers = {
            "Accept": accept,
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        # Halves of characters, which JSON can carry but UTF-8 cannot, are replaced.
        body = json.dumps(payload, ensure_ascii=False).encode(errors="replace")
        request = Request(f"{endpoint.url}/{path}", body, headers)
        self._line.send(request, self._timeout, self._inbox)
        head = self._next()
        if not isinstance(head, Head):
            raise self._unusable("it ended before it began")
        self.content_type = head.content_type
        if not 200 <= head.status < 300:
            raise self._status(head.status)

    def pieces(self) -> Iterator[bytes]:
        """The body, as it comes."""
        while isinstance(piece := self._next(), bytes):
            yield piece
        self._ended = True

    def settle(self) -> None:
        """All that matters has come; if the end comes at once, the connection can be kept."""
        if self._ended:
            return
        self._limit = min(self._limit, time.monotonic() + GRACE)
        try:
            for _ in self.pieces():
                continue
        except EndpointDown:
            return

    def json(self) -> Any:
        """The body as JSON."""
        body = b"".join(self.pieces())
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self._unusable("it is not JSON") from None

    def _unusable(self, why: str) -> EndpointDown:
        return unusable(self._api, why)

    def _next(self) -> Head | bytes | None:
        while True:
            now = time.monotonic()
            if now >= self._limit:
                raise EndpointTimeout(self._api.title, self._timeout)
            if now >= self._due:
                self._due = now + TICK
                self._tick()
            try:
                item = self._inbox.get(timeout=max(0.001, min(self._due, self._limit) - now))
            except Empty:
                continue
            if isinstance(item, Trouble):
                raise self._fault(item)
            return item

    def _fault(self, trouble: Trouble) -> EndpointDown:
        in_haste = self._timeout < CONNECT_TIMEOUT and trouble is Trouble.SLOW_TO_CONNECT
        if trouble is Trouble.SILENT or in_haste:
            return EndpointTimeout(self._api.title, self._timeout)
        if trouble is Trouble.BROKEN:
            return EndpointDown(f"{self._api.title} broke off its answer")
        return EndpointDown(f"{self._api.title} cannot be reached")

    def _status(self, status: int) -> EndpointRefused | EndpointDown:
        complaint = self._complaint()
        logger.warning("%s answered with status %d: %s", self._api.name, status, complaint)
        if status in OVERLOADED or status >= 500:
            return EndpointDown(f"{self._api.title} answered with status {status}")
        parameter = next((name for name in OPTIONAL if name in complaint), "")
        return EndpointRefused(
            f"{self._api.title} refused the request with status {status}; "
            "its configuration should be checked",
            parameter if status in {400, 422} else "",
        )

    def _complaint(self) -> str:
        """What the API says about its error, for the log."""
        try:
            text = b"".join(self.pieces()).decode(errors="replace")
        except EndpointDown:
            return "(no text)"
        if self._api.endpoint.key:
            text = text.replace(self._api.endpoint.key, REDACTED)
        # APIs repeat a wrong key with its middle left out.
        text = re.sub(r"\S*\*{3,}\S*", REDACTED, text)
        return redact_text(" ".join(text.split()))[:LONGEST_COMPLAINT]


@contextmanager
def post(
    api: Api,
    path: str,
    payload: Mapping[str, Any],
    *,
    timeout: float,
    tick: Callable[[], None] = nothing,
    accept: str = "application/json",
) -> Iterator[Answer]:
    """The answer to a POST, through the API's breaker. Leaving early ends the request.

    Raises:
        EndpointFault: of whatever kind; also while the answer is read.
    """
    if timeout <= 0:
        raise EndpointTimeout(api.title, 0.0)
    with guarded(api.name, api.title), Answer(api, min(timeout, LONGEST_WAIT), tick) as answer:
        answer.ask(path, payload, accept)
        yield answer


def unusable(api: Api, why: str) -> EndpointDown:
    """An answer that came but makes no sense."""
    logger.warning("The answer of %s cannot be used: %s", api.name, why)
    return EndpointDown(f"{api.title} gave an answer that cannot be used")
