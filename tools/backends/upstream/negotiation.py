"""Finding out which protocol a server speaks: stateless requests, or sessions after a handshake.

A server is asked for `server/discover` first. Whatever is not a clear yes means the handshake: old
servers answer with all kinds of errors, some with none at all. Only a connection that fails says
nothing about the server's age. One that says nothing for a while is offered the handshake too, and
the first of both that works counts: it may be old, or just slow to start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
)
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

from tools.backends.upstream.channel import ChannelFault, Garbage, Message, Refused
from tools.conf import deployment
from tools.upstreams import Era, UpstreamTransport

# method, params, headers -> the response
Ask = Callable[[str, Mapping[str, Any], Mapping[str, str]], Awaitable[Message]]
# method, headers
Tell = Callable[[str, Mapping[str, str]], Awaitable[None]]

PROBE_SECONDS: Final = 2.0
VERSION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
# What we can be asked for in the middle of a call, if its caller can.
CAPABILITIES: Final[Mapping[str, Any]] = {"elicitation": {"form": {}, "url": {}}}


class NotMcp(ChannelFault):
    """The server answers, but does not speak a version of MCP that is known here."""

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=True)


@dataclass(frozen=True, slots=True)
class Agreed:
    """What both sides know after they have met."""

    version: str
    modern: bool
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    server_info: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""


async def negotiate(ask: Ask, tell: Tell, era: Era, transport: UpstreamTransport) -> Agreed:
    """Meet the server.

    Raises:
        ChannelFault: it cannot be reached, or there is no common version.
    """
    # HTTP+SSE is older than stateless requests; its servers may break on a method they do not know.
    if era is Era.HANDSHAKE or (era is Era.AUTO and transport is UpstreamTransport.SSE):
        return await _shake_hands(ask, tell)
    if era is Era.AUTO:
        return await _find_out(ask, tell)
    agreed = await _discover(ask)
    if agreed is None:
        raise NotMcp(f"it does not speak {LATEST_MODERN_VERSION}; set its protocol to automatic")
    return agreed


def client_info() -> dict[str, str]:
    """How this service introduces itself."""
    return {"name": "mcp-control-plane", "version": deployment().version}


def modern_meta(version: str, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """What every stateless request says about who sends it."""
    return {
        PROTOCOL_VERSION_META_KEY: version,
        CLIENT_INFO_META_KEY: client_info(),
        CLIENT_CAPABILITIES_META_KEY: capabilities,
    }


async def _find_out(ask: Ask, tell: Tell) -> Agreed:
    discovering = asyncio.create_task(_discover(ask))
    attempts: list[asyncio.Task[Any]] = [discovering]
    try:
        await asyncio.wait(attempts, timeout=PROBE_SECONDS)
        if discovering.done() and (agreed := discovering.result()) is not None:
            return agreed
        shaking = asyncio.create_task(_shake_hands(ask, tell))
        attempts.append(shaking)
        return await _first(discovering, shaking)
    finally:
        for attempt in attempts:
            attempt.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)


async def _first(discovering: asyncio.Task[Agreed | None], shaking: asyncio.Task[Agreed]) -> Agreed:
    """What works first of both, else how the handshake failed."""
    await asyncio.wait({discovering, shaking}, return_when=asyncio.FIRST_COMPLETED)
    if not _worked(discovering):
        await asyncio.wait({shaking})
        if not _worked(shaking):
            # It refuses what it was offered second while it works on what it was offered first.
            await asyncio.wait({discovering}, timeout=PROBE_SECONDS)
    agreed = discovering.result() if _worked(discovering) else None
    return agreed or shaking.result()


def _worked(attempt: asyncio.Task[Any]) -> bool:
    return attempt.done() and attempt.exception() is None and attempt.result() is not None


async def _discover(ask: Ask) -> Agreed | None:
    """What a server of the stateless era says of itself; None from an older one."""
    version, method = LATEST_MODERN_VERSION, "server/discover"
    headers = {VERSION_HEADER: version, METHOD_HEADER: method}
    try:
        answer = await ask(method, {"_meta": modern_meta(version, CAPABILITIES)}, headers)
    except (Refused, Garbage) as fault:
        if isinstance(fault, Refused) and fault.status >= 500:
            raise
        return None
    result = answer.get("result")
    if not isinstance(result, Mapping) or not _is_modern(result):
        return None
    meta = result.get("_meta")
    info = meta.get(SERVER_INFO_META_KEY) if isinstance(meta, Mapping) else None
    return Agreed(version, True, **_described(result, info))


def _is_modern(result: Mapping[str, Any]) -> bool:
    versions = result.get("supportedVersions")
    return isinstance(versions, list) and any(one in versions for one in MODERN_PROTOCOL_VERSIONS)


async def _shake_hands(ask: Ask, tell: Tell) -> Agreed:
    params = {
        "protocolVersion": LATEST_HANDSHAKE_VERSION,
        "capabilities": CAPABILITIES,
        "clientInfo": client_info(),
    }
    answer = await ask("initialize", params, {})
    result = answer.get("result")
    if not isinstance(result, Mapping):
        raise NotMcp(f"it refused to initialize: {_reason(answer)}")
    version = result.get("protocolVersion")
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise NotMcp(f"it speaks version {str(version)[:40]!r}, which is not known here")
    await tell("notifications/initialized", {VERSION_HEADER: version})
    return Agreed(version, False, **_described(result, result.get("serverInfo")))


def _described(result: Mapping[str, Any], info: Any) -> dict[str, Any]:
    capabilities, instructions = result.get("capabilities"), result.get("instructions")
    return {
        "capabilities": capabilities if isinstance(capabilities, Mapping) else {},
        "server_info": info if isinstance(info, Mapping) else {},
        "instructions": instructions if isinstance(instructions, str) else "",
    }


def _reason(answer: Message) -> str:
    error = answer.get("error")
    words = error.get("message") if isinstance(error, Mapping) else None
    return str(words or "no reason given")[:300]
