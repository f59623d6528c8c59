"""What the span of a call says of it: ids, figures and how it ended; no arguments, no answers.

Names are those of OpenTelemetry's conventions for MCP and generative AI where there are any.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.backends.pipeline.messages import QueryMessage
from tools.contracts import ToolCall, Transport
from tools.execution.journal import CallRecord
from tools.tracing import Spans

METHOD: Final = "tools/call"
_MCP: Final = frozenset(
    {Transport.STDIO, Transport.SSE, Transport.STREAMABLE_HTTP, Transport.WEBSOCKET}
)


def failure_of(record: CallRecord) -> str:
    """Why the call failed, in one word; empty when it did not."""
    return record.code.value if record.code is not None else ""


def tell_call(spans: Spans, record: CallRecord) -> None:
    """The call is in the journal: export its spans."""
    opening, failure = record.opening, failure_of(record)
    told = {
        **_about(record.call),
        "gen_ai.tool.name": opening["tool"],
        "controlplane.correlation_id": opening["correlation_id"] or None,
        "controlplane.caller.kind": record.caller.kind.value,
        "controlplane.source": record.source or None,
        "controlplane.status": record.status.value if record.status is not None else None,
        "controlplane.cache_hit": record.cache_hit,
        "controlplane.tokens.before": record.tokens_before,
        "controlplane.tokens.after": record.tokens_after,
        "error.type": failure or None,
    }
    # Of tools that do not exist there are as many names as callers can think of.
    name = f"{METHOD} {opening['tool']}" if record.source else METHOD
    spans.finish(_known(told), failure, name)


def tell_accepted(spans: Spans, call: ToolCall) -> None:
    """The call will run as a task: export that it was accepted."""
    told = {**_about(call), "gen_ai.tool.name": call.tool, "controlplane.status": "accepted"}
    spans.finish(_known(told), name=f"{METHOD} {call.tool}")


def tell_query(spans: Spans, message: QueryMessage, reply: Mapping[str, Any]) -> None:
    """A worker has handed in its reply to a query: export its spans."""
    about = {
        "gen_ai.tool.name": message.tool,
        "controlplane.pipeline": message.pipeline,
        "controlplane.corpus": message.index["corpus"],
        "controlplane.index_version": message.index["number"],
        "controlplane.request_id": message.request_id,
    }
    spans.finish(about, _failure(reply))


def _failure(reply: Mapping[str, Any]) -> str:
    if "fault" in reply:
        return str(reply["fault"]["kind"] or "InternalFault")
    return "" if "answer" in reply else next(iter(reply))


def _about(call: ToolCall) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "mcp.method.name": METHOD if call.transport in _MCP else None,
        "network.transport": "pipe" if call.transport is Transport.STDIO else None,
        "controlplane.transport": call.transport.value,
        "controlplane.request_id": str(call.request_id),
        "controlplane.call_id": str(call.call_id),
    }


def _known(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value is not None}
