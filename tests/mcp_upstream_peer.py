"""The protocol of the scriptable upstream, in both eras and for every transport."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests import mcp_upstream_offer as offer
from tests.mcp_upstream_state import Folder, Switches
from tests.mcp_upstream_tools import HANDLERS, PIXEL, Call, CannotAsk, plain

MODERN = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
INFO = {"name": "scriptable-upstream", "version": "1.0"}

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]


class Fault(Exception):
    """An error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(eq=False)
class Client:
    """Who is served: what it said about itself, and which sessions were known when it came."""

    capabilities: dict[str, Any] = field(default_factory=dict)
    forget: int = 0


class Peer:
    """Answers requests; one for the whole program."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._numbers = count(1)
        self._asked: dict[Any, asyncio.Future[Message]] = {}
        self._running: dict[tuple[int, Any], asyncio.Task[Any]] = {}
        self._subscribers: dict[object, Send] = {}

    def subscribe(self, key: object, send: Send) -> None:
        """Send notices that belong to no request there."""
        self._subscribers[key] = send
        self.folder.note("listening")

    def unsubscribe(self, key: object) -> None:
        self._subscribers.pop(key, None)

    async def announce(self, what: str) -> None:
        """Tell everybody who listens that a list has changed."""
        for send in list(self._subscribers.values()):
            await send({"jsonrpc": "2.0", "method": f"notifications/{what}/list_changed"})

    def heard(self, message: Message, client: Client) -> None:
        """Take a notice, or the response to a request of ours."""
        if "method" not in message:
            waiting = self._asked.pop(message.get("id"), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message.get("result") or {})
        elif message["method"] == "notifications/cancelled":
            running = self._running.get((id(client), message["params"].get("requestId")))
            if running is not None:
                running.cancel()

    async def answer(
        self, request: Message, client: Client, tell: Send, headers: dict[str, str] | None = None
    ) -> Message:
        """The response to a request; `tell` sends on its stream meanwhile."""
        key = (id(client), request["id"])
        task = asyncio.current_task()
        assert task is not None
        self._running[key] = task
        try:
            result = await self._result(request, client, tell, headers or {})
            return {"jsonrpc": "2.0", "id": request["id"], "result": result}
        except Fault as fault:
            error = {"code": fault.code, "message": str(fault)}
            return {"jsonrpc": "2.0", "id": request["id"], "error": error}
        except asyncio.CancelledError:
            name = (request.get("params") or {}).get("name", "")
            self.folder.note("cancelled", method=request["method"], tool=name)
            raise
        finally:
            self._running.pop(key, None)

    async def _result(
        self, request: Message, client: Client, tell: Send, headers: dict[str, str]
    ) -> Message:
        method, params = request["method"], request.get("params") or {}
        modern = (params.get("_meta") or {}).get(VERSION_KEY) == MODERN
        switches = self.folder.switches()
        if switches.hangs_on(method):
            await asyncio.Event().wait()
        await asyncio.sleep(switches.delay_ms / 1000)
        if method == "tools/call":
            result = await self._call(params, client, tell, headers)
        elif method == "subscriptions/listen" and modern:
            result = await self._listen(request["id"], params, tell)
        else:
            result = self._other(method, params, client, modern, switches)
        if not modern:
            return result
        ready = {"resultType": "complete", **result}
        return (
            ready if method == "tools/call" else {**ready, "ttlMs": 1000, "cacheScope": "private"}
        )

    def _other(
        self, method: str, params: Message, client: Client, modern: bool, switches: Switches
    ) -> Message:
        lists = {"tools/list": ("tools", offer.tools(switches)), **offer.others(switches)}
        if method in lists:
            key, items = lists[method]
            items, following = offer.page(items, params.get("cursor"), switches.page_size)
            return {key: items} if following is None else {key: items, "nextCursor": following}
        if method == "initialize" and switches.era != "modern":
            return self._initialize(params, client, switches)
        if method == "server/discover" and modern and switches.era != "handshake":
            info = {"io.modelcontextprotocol/serverInfo": INFO}
            able = offer.capabilities(switches)
            found = {"supportedVersions": [MODERN], "capabilities": able, "_meta": info}
            return {**found, "instructions": "For tests."}
        if method == "resources/read" and params["uri"] in switches.without:
            raise Fault(-32002, "Resource not found")
        content = _content(method, params)
        if content is None:
            raise Fault(-32601, f"Method not found: {method}")
        return content

    def _initialize(self, params: Message, client: Client, switches: Switches) -> Message:
        wanted = params.get("protocolVersion")
        client.capabilities = params.get("capabilities") or {}
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE else HANDSHAKE[0],
            "capabilities": offer.capabilities(switches),
            "serverInfo": INFO,
            "instructions": "For tests.",
        }

    async def _listen(self, number: Any, params: Message, tell: Send) -> Message:
        """Stays open; the stream's end is the end of the subscription."""
        meta = {SUBSCRIPTION_KEY: number}

        async def send(notice: Message) -> None:
            told = {**(notice.get("params") or {}), "_meta": meta}
            await tell({**notice, "params": told})

        wanted = params.get("notifications") or {}
        acknowledged = "notifications/subscriptions/acknowledged"
        told = {"method": acknowledged, "params": {"notifications": wanted, "_meta": meta}}
        await tell({"jsonrpc": "2.0", **told})
        if wanted.get("toolsListChanged"):
            self.subscribe(tell, send)
        try:
            await asyncio.Event().wait()
        finally:
            self.unsubscribe(tell)
        return {}

    async def _call(
        self, params: Message, client: Client, tell: Send, headers: dict[str, str]
    ) -> Message:
        name, meta = params.get("name", ""), params.get("_meta") or {}
        handler = HANDLERS.get(name)
        switches = self.folder.switches()
        if handler is None and any(one.get("name") == name for one in switches.more_tools):
            handler = plain
        if handler is None or name in switches.without:
            raise Fault(-32602, f"Unknown tool: {name}")
        arguments = params.get("arguments") or {}
        self.folder.note("call", tool=name, arguments=arguments, meta=meta, headers=headers)
        if crashes := switches.crash_calls:
            self.folder.set(crash_calls=crashes - 1)
            os.kill(os.getpid(), signal.SIGKILL)
        capabilities = meta.get(CAPABILITIES_KEY) or client.capabilities

        async def notice(message: Message) -> None:
            await tell({"jsonrpc": "2.0", **message})

        async def ask(method: str, asked: Message) -> Message:
            number = f"ask-{next(self._numbers)}"
            self._asked[number] = asyncio.get_running_loop().create_future()
            await tell({"jsonrpc": "2.0", "id": number, "method": method, "params": asked})
            return await self._asked[number]

        call = Call(
            arguments,
            params,
            self.folder,
            VERSION_KEY in meta,
            "elicitation" in capabilities,
            notice,
            ask,
            self.announce,
            headers,
        )
        try:
            result = await handler(call)
        except CannotAsk:
            raise Fault(-32021, "The client cannot be asked, and has to be") from None
        self.folder.note("done", tool=name)
        return result


def _content(method: str, params: Message) -> Message | None:
    """What prompts, resources and completions are answered with; None for other methods."""
    if method == "ping":
        return {}
    if method == "prompts/get":
        words = {"type": "text", "text": f"Hello {params['arguments']['who']}."}
        return {"messages": [{"role": "user", "content": words}]}
    if method == "resources/read":
        return _read(params["uri"])
    if method == "completion/complete":
        names = [name for name in offer.NAMES if name.startswith(params["argument"]["value"])]
        return {"completion": {"values": names, "total": len(names), "hasMore": False}}
    return None


def _read(uri: str) -> Message:
    if uri.endswith("/picture"):
        return {"contents": [{"uri": uri, "mimeType": "image/png", "blob": PIXEL}]}
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": "The page."}]}
