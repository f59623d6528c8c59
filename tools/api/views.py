"""`GET /tools` and `POST /call-tool`: read the request, make one call, render the answer."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools.api.base import AsyncAPIView
from tools.api.calls import CORRELATION, THREAD, read_call
from tools.api.credentials import credentials_of
from tools.api.exceptions import respond
from tools.api.serializers import CallToolSerializer, EnvelopeSerializer, ToolsResponseSerializer
from tools.execution import execute, list_tools

REQUEST_ID_HEADER = OpenApiParameter(
    "X-Request-ID",
    str,
    OpenApiParameter.HEADER,
    description="Version 4 UUID, echoed in the answer.",
)
NAMING_HEADERS = [
    OpenApiParameter(name, str, OpenApiParameter.HEADER, description=about)
    for name, about in (
        (CORRELATION, "What the caller calls this call: letters, digits, - and _, at most 128."),
        (THREAD, "The conversation it belongs to, in the same characters."),
    )
]
FAILURES: dict[int, Any] = {
    status: OpenApiResponse(EnvelopeSerializer, description=description)
    for status, description in {
        400: "The request or its arguments are wrong (INVALID_ARGUMENTS)",
        401: "No API key or access token, or a bad one; see WWW-Authenticate (INVALID_ARGUMENTS)",
        403: "The access token lacks a scope; see WWW-Authenticate (INVALID_ARGUMENTS)",
        404: "No such tool (TOOL_NOT_FOUND)",
        405: "No such method here (INVALID_ARGUMENTS)",
        406: "Answers are JSON only (INVALID_ARGUMENTS)",
        413: "The body is too large (INVALID_ARGUMENTS)",
        415: "The body is not JSON (INVALID_ARGUMENTS)",
        429: "Too many calls, or the tool is busy; see Retry-After (RATE_LIMITED)",
        500: "The tool failed (EXECUTION_ERROR), or we did (INTERNAL_ERROR)",
        503: "Starting, stopping, or a dependency is away; see Retry-After (SERVICE_UNAVAILABLE)",
        504: "The tool was not done in time (TIMEOUT)",
    }.items()
}


class ToolsView(AsyncAPIView):
    """The tools the caller may use."""

    @extend_schema(
        operation_id="list_tools",
        summary="List the tools",
        responses={
            200: ToolsResponseSerializer,
            **{code: FAILURES[code] for code in (401, 403, 405, 406, 503)},
        },
    )
    async def get(self, request: Request) -> Response:
        listing = await list_tools(credentials_of(request))
        return Response(listing.encoded)


class CallToolView(AsyncAPIView):
    """One call of one tool."""

    @extend_schema(
        operation_id="call_tool",
        summary="Call a tool",
        parameters=[REQUEST_ID_HEADER, *NAMING_HEADERS],
        request=CallToolSerializer,
        responses={200: EnvelopeSerializer, **FAILURES},
    )
    async def post(self, request: Request) -> Response:
        return respond(await execute(read_call(request)))
