"""The real doors: the whole application behind a real port, started with the first request."""

from __future__ import annotations

import asyncio
import faulthandler
import socket
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

import httpx2
import uvicorn
from typing_extensions import override

from controlplane.runtime.joining import JoiningHttp
from tests.processes import wait_until

LOOK_SECONDS: Final = 0.005


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PromptServer(uvicorn.Server):
    """Ends as soon as it is told to and its connections are closed.

    uvicorn looks ten times a second whether it should, and then waits a tenth in any case: in a suite that
    opens a door for each of a thousand tests that is minutes.
    """

    @override
    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:
            await asyncio.sleep(LOOK_SECONDS)

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(LOOK_SECONDS)
        for server in self.servers:
            await server.wait_closed()
        await self.lifespan.shutdown()


class RestDoor:
    """A web server in this process, on its own thread and event loop, and a client for it.

    It starts with the first request, so that a test can fill the catalogue before.
    """

    def __init__(self) -> None:
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._client: httpx2.Client | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.url = ""

    def start(self) -> RestDoor:
        """Serve, and wait until calls are answered."""
        from controlplane.asgi import application

        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        config = uvicorn.Config(
            application,
            host="127.0.0.1",
            port=port,
            log_config=None,
            loop="asyncio",
            http=JoiningHttp,
            lifespan="on",
            # As the product. uvicorn's own 5 s are the client's too, and where both let go of an
            # idle connection at once, a request is lost between them.
            timeout_keep_alive=30,
        )
        self._server = PromptServer(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._client = httpx2.Client(base_url=self.url, timeout=30)
        wait_until(self._serving, what="a serving door")
        return self

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(20)
            if self._thread.is_alive():
                faulthandler.dump_traceback(all_threads=True)
                self._print_tasks()
            assert not self._thread.is_alive(), "the server did not stop"
        self._server = self._thread = self._client = None

    def _print_tasks(self) -> None:
        """What a server that does not stop is waiting for."""
        assert self.loop is not None
        for task in asyncio.all_tasks(self.loop):
            task.print_stack(file=sys.stderr)

    @property
    def client(self) -> httpx2.Client:
        if self._client is None:
            self.start()
        assert self._client is not None
        return self._client

    def call(
        self,
        tool: str,
        arguments: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> httpx2.Response:
        """POST /call-tool."""
        payload = {"tool": tool, "arguments": {} if arguments is None else arguments, **body}
        return self.client.post("/call-tool", json=payload, headers=dict(headers or {}))

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.get(path, **options)

    def _run(self) -> None:
        async def serve() -> None:
            self.loop = asyncio.get_running_loop()
            assert self._server is not None
            await self._server.serve()

        asyncio.run(serve())

    def _serving(self) -> bool:
        try:
            answer = httpx2.get(f"{self.url}/tools", timeout=5)
        except httpx2.HTTPError:
            return False
        return answer.status_code in {200, 401}
