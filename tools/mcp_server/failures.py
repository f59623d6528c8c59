"""Failures in MCP's two forms: a result that a model can act on, or a protocol error."""

from __future__ import annotations

import json
from typing import Any

from mcp.shared.exceptions import MCPError

from tools.contracts import Envelope
from tools.errors import (
    ControlPlaneError,
    InternalFault,
    McpKind,
    ReportedByTool,
    ResourceNotFound,
)


def error_body(error: ControlPlaneError) -> dict[str, Any]:
    """`{code, message, data}` with JSON-RPC's numbers; `data` only when there is something in it."""
    body: dict[str, Any] = {"code": error.mcp_code, "message": error.message}
    if details := error.details.to_wire():
        body["data"] = details
    return body


def protocol_error(error: ControlPlaneError, request_id: str = "") -> MCPError:
    """`error` for the client program."""
    data = error.details.to_wire()
    if isinstance(error, ResourceNotFound):
        # Where the protocol wants the address that was asked for.
        data["uri"] = error.details.value
    if request_id:
        data["request_id"] = request_id
    return MCPError(error.mcp_code, error.message, data or None)


def failed_call(envelope: Envelope) -> dict[str, Any]:
    """The result of a call that failed.

    Raises:
        MCPError: when the failure is one for the client program, not for the model.
    """
    error = envelope.failure or InternalFault()
    if error.mcp_kind is McpKind.PROTOCOL:
        raise protocol_error(error, str(envelope.request_id))
    structured = {"error": error_body(error)}
    if isinstance(error, ReportedByTool) and error.result.get("content"):
        # The tool's own words, to the model as they are.
        return {"structuredContent": structured, **error.result, "isError": True}
    text = json.dumps(structured, ensure_ascii=False, default=str)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": json.loads(text),
        "isError": True,
    }
