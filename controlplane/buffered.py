"""Bodies for the admin are read on the event loop, so that a slow sender holds no thread."""

from __future__ import annotations

import contextlib

from django.core.exceptions import RequestAborted
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controlplane.fallbacks import enveloped
from controlplane.rest import read_body, send_response
from tools.errors import ControlPlaneError

# Django checks forms against a smaller limit of its own; this one bounds what is held in memory.
LARGEST_BODY = 32 << 20


class BufferedBody:
    """Calls the application once the whole body is here; a slow or huge one never gets that far."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
