"""Views that do nothing but answer with the bytes the real ones gave before the run.

The plain ones are what a DRF project would write: synchronous, behind Django's middleware, in its
threads. The lean ones are served like the product's own, on the event loop and without middleware,
so the difference to them is the call path alone.
"""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from tools.api.base import AsyncAPIView

answers: dict[str, Any] = {}


def call_answer(request: Request) -> Response:
    """Reads the JSON body, as a call has to."""
    body: Any = request.data
    assert body["tool"]
    return Response(answers["call"])


class PlainTools(APIView):
    def get(self, request: Request) -> Response:
        return Response(answers["tools"])


class PlainCall(APIView):
    def post(self, request: Request) -> Response:
        return call_answer(request)


class LeanTools(AsyncAPIView):
    async def get(self, request: Request) -> Response:
        return Response(answers["tools"])


class LeanCall(AsyncAPIView):
    async def post(self, request: Request) -> Response:
        return call_answer(request)


class Remember(AsyncAPIView):
    """Sets what the others answer."""

    async def post(self, request: Request) -> Response:
        given: Any = request.data
        answers.update(given)
        return Response({"remembered": sorted(answers)})
