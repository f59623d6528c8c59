"""DRF views whose handlers are awaited on the event loop.

A call may take half a minute; as a coroutine it holds no thread meanwhile. DRF's own dispatch is
synchronous, and wrapping it costs a thread hop per request, so the same steps are awaited here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from typing_extensions import override

from tools.api.request_ids import given_request_id
from tools.errors import MethodNotAllowed

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Run what waits for the database or a disk, off the event loop."""

    def work() -> T:
        try:
            return function(*arguments, **options)
        finally:
            connection.close()

    return await sync_to_async(work, thread_sensitive=False)()


class AsyncAPIView(APIView):
    """An APIView with `async def get`, `async def post` and so on."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    @override
    async def dispatch(  # type: ignore[override] # Django awaits what an async view returns
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        self.args, self.kwargs = args, kwargs
        self.headers = self.default_response_headers
        wrapped: Request = self.initialize_request(request, *args, **kwargs)
        self.request = wrapped
        response: Response
        try:
            self.initial(wrapped, *args, **kwargs)
            response = await self._handler(wrapped)(wrapped, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the exception handler decides what callers see
            response = self.handle_exception(error)
        self.response = self.finalize_response(wrapped, response, *args, **kwargs)
        if "X-Request-ID" not in self.response:
            self.response["X-Request-ID"] = str(given_request_id(request) or uuid.uuid4())
        # Rendered here, on the loop: Django would hop to a thread for it.
        rendered: HttpResponseBase = self.response.render()
        return rendered

    def _handler(self, request: Request) -> Any:
        method = (request.method or "").lower()
        if method in self.http_method_names and hasattr(self, method):
            return getattr(self, method)
        allowed = tuple(name for name in self.allowed_methods if name != "OPTIONS")
        raise MethodNotAllowed(request.method or "", allowed)

    @override
    async def options(  # type: ignore[override] # awaited like every other handler
        self, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        """Preflights are answered before they get here; this says what is allowed."""
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})
