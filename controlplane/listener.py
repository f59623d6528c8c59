"""A process that serves MCP and nothing else: over stdio, over one network door, or both."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware

from controlplane.cors import ConfiguredCors
from controlplane.opened import opened, shut
from controlplane.runtime.binding import sole_socket
from controlplane.runtime.refusal import StartRefused
from controlplane.runtime.release import release_database
from controlplane.runtime.server import WebServer, prepare_process, server_of
from controlplane.runtime.service import local_address, readable, refuse_keyless
from health.snapshot import watching
from tools.conf import ServiceSettings, deployment
from tools.contracts import Credentials, Transport
from tools.errors import ControlPlaneError, Starting
from tools.execution import identity
from tools.execution.runtime import Runtime, current
from tools.mcp_server.app import McpDoors
from tools.mcp_server.listener import TransportSettings
from tools.mcp_server.metadata import oauth_routes
from tools.mcp_server.peer import Peer
from tools.mcp_server.transports.stdio import Wire, claimed_wire, nobody_there
from tools.selectors import load_catalogue
from tools.services.client_config import CLIENTS, KEY_VARIABLE, TRANSPORTS, Connection

ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
Say = Callable[[str], None]


def listen(chosen: TransportSettings, credentials: Credentials, say: Say) -> None:
    """Serve until a signal arrives, or until the client at stdio is gone.

    `credentials` are those of the client at stdio.

    Raises:
        StartRefused: when it cannot be served like this; nothing was sent to a client.
    """
    prepare_process()
    service = _service(chosen)
    if chosen.port is None:
        with claimed_wire() as wire:
            asyncio.run(_serve_stdio(credentials, wire, say))
        # Looking through all of memory once more would take longer than all of the stop before.
        gc.freeze()
        return
    with sole_socket(chosen.host, chosen.port) as listener:
        here = chosen.transport.has_stdio and not nobody_there()
        with claimed_wire() if here else nullcontext() as wire:
            client = Client(credentials, wire) if wire else None
            base = local_address(chosen.host, chosen.port)
            NetworkListener(chosen, base, service, client, say).run(listener)


def _service(chosen: TransportSettings) -> ServiceSettings:
    """The settings in force, once it is sure that `chosen` can be served under them."""
    with readable():
        catalogue = load_catalogue()
    release_database()
    if chosen.toolset and chosen.toolset not in catalogue.toolsets:
        known = ", ".join(sorted(catalogue.toolsets)) or "none"
        raise StartRefused(f"There is no toolset {chosen.toolset!r}. Known: {known}.")
    if chosen.reachable_from_network:
        refuse_keyless(replace(catalogue.settings, service_host=chosen.host), "MCP_HOST")
    return catalogue.settings


@dataclass(frozen=True, slots=True)
class Client:
    """The client at stdio: who it is, and where."""

    credentials: Credentials
    wire: Wire

    async def admit(self, runtime: Runtime) -> Peer:
        """The client as a peer.

        Raises:
            StartRefused: its key or its toolset is not known.
        """
        await identity.prepare(self.credentials)
        try:
            identity.identify(self.credentials, runtime.directory.catalogue)
        except ControlPlaneError as error:
            key = f"; check --key or {KEY_VARIABLE}" if self.credentials.secret else ""
            raise StartRefused(f"{error.message}{key}.") from None
        return Peer(self.credentials, Transport.STDIO)


async def _serve_stdio(credentials: Credentials, wire: Wire, say: Say) -> None:
    doors, ended = McpDoors(), asyncio.Event()

    def end() -> None:
        ended.set()
        doors.close_streams()

    for number in ENDING:
        asyncio.get_running_loop().add_signal_handler(number, end)
    client = Client(credentials, wire)
    # Its client waits for it to start; servers can wait for a call.
    async with opened(wait=True, meet=False) as runtime:
        peer = await client.admit(runtime)
        async with doors.run(runtime):
            if not ended.is_set():
                say(f"Serving MCP over stdio, as {_name(credentials)}.")
                await doors.serve_stdio(peer, wire)
            shut(runtime)


def _name(credentials: Credentials) -> str:
    return "the client whose key was given" if credentials.secret else credentials.name


class NetworkListener:
    """One network door on an address of its own and, with `both`, the client at stdio."""

    def __init__(
        self,
        chosen: TransportSettings,
        base: str,
        service: ServiceSettings,
        client: Client | None,
        say: Say,
    ) -> None:
        self._chosen = chosen
        self._base = base
        self._client = client
        self._say = say
        self._refusal: StartRefused | None = None
        self._doors = McpDoors(max_connections=chosen.max_connections, toolset=chosen.toolset)
        application = Starlette(
            routes=[*self._doors.routes(chosen.path), *oauth_routes()],
            middleware=[Middleware(ConfiguredCors)],
            lifespan=self._lifespan,
        )
        self._server: WebServer = server_of(
            application, self._begin_shutdown, service.server_graceful_shutdown_seconds
        )

    def run(self, listener: socket.socket) -> None:
        """Serve until a signal arrives or the client at stdio is gone.

        Raises:
            StartRefused: that client is not known.
        """
        self._server.run(sockets=[listener])
        if self._refusal is not None:
            raise self._refusal

    def _begin_shutdown(self) -> None:
        try:
            shut(current())
        except Starting:
            return
        self._doors.close_streams()

    def _stop(self) -> None:
        self._begin_shutdown()
        self._server.should_exit = True

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._stop)
        async with (
            opened(wait=True) as runtime,
            watching(runtime),
            self._doors.run(runtime),
        ):
            self._say(announcement(self._chosen, self._base, runtime.settings))
            attending = asyncio.create_task(self._attend(runtime))
            try:
                yield
            finally:
                attending.cancel()
                await asyncio.gather(attending, return_exceptions=True)

    async def _attend(self, runtime: Runtime) -> None:
        """Serve the client at stdio, if there is one. It started this process, so both end together."""
        if self._client is None:
            return
        try:
            peer = await self._client.admit(runtime)
            await self._doors.serve_stdio(peer, self._client.wire)
        except StartRefused as fault:
            self._refusal = fault
        finally:
            self._stop()


def announcement(chosen: TransportSettings, base: str, service: ServiceSettings) -> str:
    """Where a listener is, and what a client needs to reach it."""
    door = chosen.transport.network
    if door not in TRANSPORTS:
        return f"Serving MCP at {base.replace('http', 'ws', 1)}{chosen.path} (subprotocol mcp)."
    also = " and over stdio" if chosen.transport.has_stdio else ""
    keys = service.security_api_keys_enabled or deployment().oauth is not None
    setup = CLIENTS["claude-code"](
        Connection(
            service=chosen.toolset or service.service_name,
            base_url=base,
            transport=door,
            key_variable=KEY_VARIABLE if keys else "",
        )
    )
    return (
        f"Serving MCP at {base}{chosen.path}{also}.\n\n"
        f"{setup.title} ({setup.place}):\n\n{setup.text}\n"
        f"For others: manage.py client_config CLIENT --url {base} --transport {door}"
    )
