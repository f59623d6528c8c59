"""`/api/corpora` on the event loop: views that take large bodies, and wait for the database in threads."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.exceptions import RequestAborted
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from starlette.types import Receive, Scope, Send

from controlplane.fallbacks import enveloped, not_found
from controlplane.rest import header_id, send_response
from controlplane.spooling import ReceivingRequest, Spool
from tools.api.request_ids import given_request_id
from tools.errors import Stopping


class CorporaEndpoint:
    """Serves every address below `/api/corpora`. Work that has begun is not cut off by a hang-up."""

    def __init__(self) -> None:
        self._spool = Spool()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._respond(scope, receive)
        except RequestAborted:
            return
        await send_response(response, send)

    async def _respond(self, scope: Scope, receive: Receive) -> HttpResponseBase:
        try:
            request = ReceivingRequest(scope, receive, self._spool)
        except Exception as error:  # noqa: BLE001 - translated, or logged as a bug
            return enveloped(error, header_id(scope))
        try:
            request.get_host()
            return await self._view(request)
        except RequestAborted:
            raise
        except asyncio.CancelledError:
            # The process has to leave; the caller is still there and is told so.
            return enveloped(Stopping(), given_request_id(request))
        except Exception as error:  # noqa: BLE001 - translated, or logged as a bug
            return enveloped(error, given_request_id(request))
        finally:
            request.close()

    async def _view(self, request: ReceivingRequest) -> HttpResponseBase:
        try:
            match = resolve(request.path_info)
        except Resolver404 as error:
            return not_found(request, error)
        response: Any = match.func(request, *match.args, **match.kwargs)
        found: HttpResponseBase = await response
        return found
