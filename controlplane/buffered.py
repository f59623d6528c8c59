"""Bodies for the admin are read on the event loop, so that a slow sender holds no thread."""

from __future__ import annotations

import contextlib
import re
from typing import IO, Final

from django.core.exceptions import RequestAborted
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controlplane.fallbacks import enveloped
from controlplane.rest import read_body, send_response
from controlplane.spooling import Spool, new_file
from tools.conf import deployment
from tools.errors import ControlPlaneError

# Django checks forms against a smaller limit of its own; this one bounds what is held in memory.
LARGEST_BODY: Final = 32 << 20
# Where people add documents to a corpus, and what the form adds to them.
UPLOADS: Final = re.compile(r"/admin/tools/corpus/[0-9]+/upload/\Z")
FORM_BYTES: Final = 64 << 10
PIECE: Final = 256 << 10


class BufferedBody:
    """Calls the application once the whole body is here; a slow or huge one never gets that far.

    Uploads of documents may be larger than other bodies, and wait on disk.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._spool = Spool()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if UPLOADS.match(scope["path"]):
            with new_file() as file:
                await self._upload(scope, receive, send, file)
            return
        try:
            body = await read_body(scope, receive, LARGEST_BODY)
        except ControlPlaneError as error:
            await send_response(enveloped(error), send)
            return
        except RequestAborted:
            return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        with contextlib.suppress(RequestAborted):
            await self._app(scope, replay, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send, file: IO[bytes]) -> None:
        limit = deployment().rag.max_document_bytes + FORM_BYTES
        try:
            left = await self._spool.receive(scope, receive, limit, file)
        except ControlPlaneError as error:
            await send_response(enveloped(error), send)
            return
        except RequestAborted:
            return

        async def replay() -> Message:
            nonlocal left
            if left < 0:
                return await receive()
            piece = file.read(PIECE)
            left -= len(piece)
            more = left > 0
            left = left or -1
            return {"type": "http.request", "body": piece, "more_body": more}

        with contextlib.suppress(RequestAborted):
            await self._app(scope, replay, send)
