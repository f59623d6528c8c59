"""MCP spoken over one channel: requests out, and what the server sends in between."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import lru_cache
from typing import Any, Final

from mcp.shared.inbound import encode_header_value

from tools.backends.upstream.channel import Channel, ChannelFault, Garbage, Message
from tools.backends.upstream.inflight import Inflight
from tools.backends.upstream.negotiation import (
    CAPABILITIES,
    METHOD_HEADER,
    NAME_HEADER,
    VERSION_HEADER,
    Agreed,
    modern_meta,
    negotiate,
)
from tools.backends.upstream.secrets import Secrets
from tools.backends.upstream.transports import open_channel
from tools.contracts import CallContext
from tools.upstreams import Upstream, UpstreamTransport

logger = logging.getLogger(__name__)

METHOD_NOT_FOUND: Final = -32601
LIST_CHANGED: Final = frozenset(
    f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")
)
# The parameter whose value is announced in a header, by method.
_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


# The same few names are announced with every call.
_header_value: Final = lru_cache(maxsize=1024)(encode_header_value)


class RpcError(Exception):
    """The server answered a request with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class NobodyAsked(Exception):
    """The server had `questions` that its caller could not be asked, and failed for it."""

    def __init__(self, questions: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        super().__init__("nobody could be asked")
        self.questions = questions
        self.result = result


class Session:
    """One conversation with a server, from the first greeting on.

    `changed` is called when the server says that one of its lists has changed.
    """

    def __init__(self, upstream: Upstream, changed: Callable[[], None]) -> None:
        self._upstream = upstream
        self._changed = changed
        self.channel: Channel = open_channel(upstream, self._heard)
        self._numbers = itertools.count(1)
        self._inflight: dict[int, Inflight] = {}
        self._silence = asyncio.Event()
        self._silence.set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.agreed = Agreed("", False)
        self._headers: dict[str, str] = {}
        self._secrets: Secrets | None = None
        self._meta: dict[str, Any] = {}
        # Closing the stream is what cancels a stateless request over HTTP; elsewhere it takes words.
        self._cancels_by_word = True

    async def open(self) -> None:
        """Connect and agree on a version.

        Raises:
            ChannelFault: that did not work; nothing is left open.
        """
        upstream = self._upstream
        try:
            self._secrets = Secrets(upstream)
            await self.channel.open()
            self.agreed = await negotiate(self._ask, self._tell, upstream.era, upstream.transport)
        except BaseException:
            await asyncio.shield(self.close())
            raise
        self._headers = {VERSION_HEADER: self.agreed.version}
        if self.agreed.modern:
            self._meta = modern_meta(self.agreed.version, {})
            self._cancels_by_word = upstream.transport is not UpstreamTransport.STREAMABLE_HTTP

    @property
    def broken(self) -> str:
        return self.channel.broken

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        context: CallContext | None = None,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """The result of one request.

        With `context` the request serves a call: its caller is told of progress and may be asked.

        Raises:
            RpcError: the server answered with an error.
            NobodyAsked: the tool failed because its question was not answered.
            ChannelFault: there was no answer.
        """
        number = next(self._numbers)
        inflight = None
        if context is not None:
            inflight = self._inflight[number] = Inflight(context)
            self._silence.clear()
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": method,
            "params": self._params(number, params or {}, meta or {}, context),
        }
        try:
            answer = await self._exchange(message, self._sent_with(method, params, headers))
            if inflight is not None:
                await inflight.told()
        except asyncio.CancelledError:
            if self._cancels_by_word:
                self._spawn(self._cancel(number))
            raise
        finally:
            if inflight is not None:
                self._over(number, inflight)
        result = _result(answer)
        if inflight is not None and inflight.unasked and result.get("isError") is True:
            raise NobodyAsked(inflight.unasked, result)
        return result

    async def listen(self) -> None:
        """Follow the server's notices until the stream ends; raises ChannelFault.

        Over stdio, WebSocket and HTTP+SSE they come anyway, except in the stateless era, where a
        request must be kept open for them.
        """
        if self.agreed.modern:
            wanted = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")
            await self.request(
                "subscriptions/listen", {"notifications": dict.fromkeys(wanted, True)}
            )
        else:
            await self.channel.listen(self._headers)

    async def quiet(self) -> None:
        """Wait until no call is under way."""
        await self._silence.wait()

    async def check(self) -> None:
        """Ask for a sign of life; raises ChannelFault or RpcError."""
        await self.request("server/discover" if self.agreed.modern else "ping")

    async def close(self) -> None:
        """End the conversation and everything that belongs to it."""
        for task in self._tasks:
            task.cancel()
        await self.channel.close()

    def _params(
        self,
        number: int,
        params: Mapping[str, Any],
        meta: Mapping[str, Any],
        context: CallContext | None,
    ) -> dict[str, Any]:
        said = {**self._meta, **meta}
        if context is not None:
            if context.progress is not None:
                said["progressToken"] = number
            if self.agreed.modern and (context.in_rounds or context.asking is not None):
                said.update(modern_meta(self.agreed.version, CAPABILITIES))
        return {**params, "_meta": said} if said else dict(params)

    def _sent_with(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
    ) -> Mapping[str, str]:
        if not self.agreed.modern:
            return {**self._headers, **headers} if headers else self._headers
        sent = {**self._headers, METHOD_HEADER: method}
        if params is not None and (key := _NAMED_BY.get(method)) is not None:
            sent[NAME_HEADER] = _header_value(str(params.get(key, "")))
        return {**sent, **headers} if headers else sent

    def _over(self, number: int, inflight: Inflight) -> None:
        inflight.close()
        del self._inflight[number]
        if not self._inflight:
            self._silence.set()

    async def _ask(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Message:
        message = {
            "jsonrpc": "2.0",
            "id": next(self._numbers),
            "method": method,
            "params": params,
        }
        return await self._exchange(message, headers)

    async def _exchange(self, message: Message, headers: Mapping[str, str]) -> Message:
        """The answer to `message`, without the secrets that the server is called with."""
        try:
            answer = await self.channel.exchange(message, headers)
        except ChannelFault as fault:
            if self._secrets is not None:
                self._secrets.hide_in(fault)
            raise
        return answer if self._secrets is None else self._secrets.without(answer)

    async def _tell(self, method: str, headers: Mapping[str, str]) -> None:
        await self.channel.notify({"jsonrpc": "2.0", "method": method}, headers)

    async def _cancel(self, number: int) -> None:
        params = {"requestId": number, "reason": "The caller no longer waits"}
        await self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def _heard(self, message: Message, related: int | None) -> None:
        """Something the server sent of its own accord."""
        if self._secrets is not None:
            try:
                message = self._secrets.without(message)
            except Garbage as fault:
                logger.warning("%s: %s", self._upstream.slug, fault)
                return
        method = message.get("method")
        params = message.get("params")
        params = params if isinstance(params, Mapping) else {}
        if "id" in message and isinstance(method, str):
            self._spawn(self._respond(message["id"], method, params, related))
        elif method == "notifications/progress":
            token = params.get("progressToken")
            inflight = self._inflight.get(token) if isinstance(token, int) else None
            if inflight is not None:
                inflight.progressed(params)
        elif method in LIST_CHANGED:
            self._changed()

    async def _respond(
        self, number: Any, method: str, params: Mapping[str, Any], related: int | None
    ) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        if method == "ping":
            answer["result"] = {}
        elif method == "elicitation/create":
            answer["result"] = await self._elicit(params, related)
        else:
            words = f"{method[:60]} is not offered here"
            answer["error"] = {"code": METHOD_NOT_FOUND, "message": words}
        await self._send(answer)

    async def _elicit(self, params: Mapping[str, Any], related: int | None) -> Mapping[str, Any]:
        """The user's answer, when it is certain whose call the question belongs to."""
        inflight = self._inflight.get(related) if related is not None else None
        if inflight is None and related is None and len(self._inflight) == 1:
            inflight = next(iter(self._inflight.values()))
        if inflight is None:
            logger.warning(
                "%s asks something that belongs to no certain call; it is told that nobody answers",
                self._upstream.slug,
            )
            return {"action": "cancel"}
        try:
            return await inflight.elicit(params)
        except Exception:
            # The server must not wait for an answer that never comes.
            logger.exception("Asking a caller for %s failed on a bug", self._upstream.slug)
            return {"action": "cancel"}

    async def _send(self, message: Message) -> None:
        try:
            await self.channel.notify(message, self._headers)
        except ChannelFault as fault:
            logger.debug("%s was not told something: %s", self._upstream.slug, fault)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _result(answer: Message) -> Mapping[str, Any]:
    error = answer.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        raise RpcError(
            code if isinstance(code, int) else 0, str(error.get("message", "")), error.get("data")
        )
    result = answer.get("result")
    return result if isinstance(result, dict) else {}
