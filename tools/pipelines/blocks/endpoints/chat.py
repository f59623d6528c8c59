"""Chat completions, streamed and held to their limit of tokens.

The limit is sent, and enforced here as well: a stream that goes on beyond it is cut. Tokens are those
of the API's own account when it gives one, else counted (cl100k).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.context import tokens
from tools.pipelines.blocks.endpoints.client import OPTIONAL, Answer, Api, nothing, post, unusable
from tools.pipelines.blocks.endpoints.faults import EndpointDown, EndpointRefused
from tools.pipelines.contracts import Usage

LONGEST_EVENT: Final = 1 << 20
TEMPERATURE: Final = 0.1
DONE: Final = "[DONE]"

Message = Mapping[str, str]
# What models of an API turned out not to take, by address and model: learnt from their refusals.
_unknown_to: Final[dict[tuple[str, str], frozenset[str]]] = {}


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote. `truncated` when it had more to say than it was allowed."""

    text: str
    usage: Usage
    truncated: bool = False


def complete(
    api: Api,
    model: str,
    messages: Sequence[Message],
    *,
    max_tokens: int,
    timeout: float,
    tick: Callable[[], None] = nothing,
) -> Completion:
    """Let the model answer the messages; `tick` is called about twice a second meanwhile.

    Raises:
        EndpointFault: it did not, or only in part.
    """
    key = (api.endpoint.url, model)
    limit = time.monotonic() + timeout
    while True:
        unknown = _unknown_to.get(key, frozenset())
        try:
            payload = _payload(model, messages, max_tokens, unknown)
            return _ask(api, payload, limit - time.monotonic(), tick)
        except EndpointRefused as refused:
            if refused.parameter not in OPTIONAL or refused.parameter in unknown:
                raise
            _unknown_to[key] = unknown | {refused.parameter}


def _payload(
    model: str, messages: Sequence[Message], max_tokens: int, unknown: frozenset[str]
) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "model": model,
        "messages": list(messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": TEMPERATURE,
        "max_tokens": max_tokens,
    }
    for name in unknown:
        del payload[name]
    if "max_tokens" in unknown:
        payload["max_completion_tokens"] = max_tokens
    return payload


def _ask(
    api: Api, payload: Mapping[str, Any], timeout: float, tick: Callable[[], None]
) -> Completion:
    limit: int = payload.get("max_tokens", payload.get("max_completion_tokens", 0))
    written = _Written(api, limit)
    with post(
        api, "chat/completions", payload, timeout=timeout, tick=tick, accept="text/event-stream"
    ) as answer:
        if answer.content_type.partition(";")[0].strip().lower() == "application/json":
            # It does not stream, whatever it was asked.
            written.take(answer.json(), "message")
        else:
            for event in _events(api, answer):
                written.take(event, "delta")
                if written.is_full:
                    break
            else:
                answer.settle()
        return written.completion(payload["messages"])


class _Written:
    """The answer as it grows."""

    def __init__(self, api: Api, limit: int) -> None:
        self._api = api
        self._limit = limit
        self._parts: list[str] = []
        self._finished = ""
        self._usage: Usage | None = None
        self._tokens = 0
        self._uncounted = 0

    @property
    def is_full(self) -> bool:
        """Whether there is more text than allowed. Counts only when there can be: a token has at
        least a byte."""
        if self._tokens + self._uncounted > self._limit:
            self._tokens = tokens.count("".join(self._parts))
            self._uncounted = 0
        return self._tokens > self._limit

    def take(self, event: Any, part: str) -> None:
        """One event of a stream, or the whole of an answer that is none."""
        if event == DONE:
            self._finished = self._finished or "stop"
            return
        if not isinstance(event, dict):
            raise unusable(self._api, "an event is no object")
        if event.get("error"):
            raise unusable(self._api, "the stream tells of an error")
        self._usage = _usage(event.get("usage")) or self._usage
        choices = event.get("choices")
        if not choices:
            return
        try:
            text = (choices[0].get(part) or {}).get("content")
            finished = choices[0].get("finish_reason")
        except (AttributeError, LookupError, TypeError):
            raise unusable(self._api, "a choice has another form") from None
        if isinstance(text, str) and text:
            self._parts.append(text)
            self._uncounted += len(text.encode(errors="replace"))
        if isinstance(finished, str):
            self._finished = finished

    def completion(self, messages: Sequence[Message]) -> Completion:
        """The answer, once there is no more to come."""
        text = "".join(self._parts)
        if self.is_full:
            text = tokens.cut(text, self._limit)
            return Completion(text, _counted(messages, text), truncated=True)
        if not self._finished:
            raise EndpointDown(f"{self._api.title} broke off its answer")
        return Completion(
            text, self._usage or _counted(messages, text), truncated=self._finished == "length"
        )


def _counted(messages: Sequence[Message], text: str) -> Usage:
    return Usage(sum(tokens.count(message["content"]) for message in messages), tokens.count(text))


def _usage(value: Any) -> Usage | None:
    """The API's own account, when it makes sense."""
    if not isinstance(value, dict):
        return None
    read, written = value.get("prompt_tokens"), value.get("completion_tokens")
    if type(read) is not int or type(written) is not int or min(read, written) < 0:
        return None
    return Usage(read, written)


def _events(api: Api, answer: Answer) -> Iterator[Any]:
    """The data of server-sent events as JSON, up to the one that says it is the last."""
    data: list[str] = []
    for line in _lines(api, answer.pieces()):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            text = "\n".join(data)
            data = []
            try:
                yield DONE if text.strip() == DONE else json.loads(text)
            except (ValueError, RecursionError):
                raise unusable(api, "an event is not JSON") from None
            if text.strip() == DONE:
                return


def _lines(api: Api, pieces: Iterator[bytes]) -> Iterator[str]:
    """Whole lines, without their ends; a last event needs no empty line behind it."""
    rest = b""
    for piece in pieces:
        rest += piece.replace(b"\r", b"")
        *whole, rest = rest.split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
        if len(rest) > LONGEST_EVENT:
            raise unusable(api, "a line has no end")
    yield rest.decode(errors="replace")
    yield ""
