"""The control plane's own tools: what they take, what they answer, and the backend that runs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.backends import rag_tools, server_metrics, tool_search
from tools.backends.ports import ports
from tools.backends.read_result import SCHEMA as READ_RESULT_SCHEMA
from tools.backends.read_result import read_result
from tools.backends.registry import registry
from tools.contracts import BackendResult, CallContext, Caller, ToolSource, ToolSpec
from tools.errors import ExecutionFailed

Function = Callable[[Mapping[str, Any], Caller], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class BuiltinTool:
    """One tool that is code: its definition for the catalogue and the function that answers."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    function: Function
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    required_prefix: str = ""
    requires_context_management: bool = False


async def _read_result(arguments: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    return await read_result(arguments, caller, ports.read_result)


async def _tool_search(arguments: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    return await tool_search.tool_search(arguments, caller, ports.visible_tools)


BUILTINS: Final[Mapping[str, BuiltinTool]] = {
    tool.name: tool
    for tool in (
        BuiltinTool(
            name="rag_health_check",
            title="RAG health check",
            description=(
                "Health of the RAG pipelines, the database and recent performance. "
                "Use it before relying on a pipeline, or when queries fail or are slow."
            ),
            input_schema=rag_tools.HEALTH_SCHEMA,
            function=rag_tools.rag_health_check,
            required_prefix="rag_",
        ),
        BuiltinTool(
            name="rag_metrics",
            title="RAG metrics",
            description=(
                "Counts, response times and errors of RAG queries over a recent time range. "
                "Use it to compare techniques or to see how often and why queries failed."
            ),
            input_schema=rag_tools.METRICS_SCHEMA,
            function=rag_tools.rag_metrics,
            required_prefix="rag_",
        ),
        BuiltinTool(
            name="server_metrics",
            title="Server metrics",
            description=(
                "Figures of the whole service: calls, latency, error rate, cache, tokens saved, "
                "uptime and success criteria. Use it to judge how the service is doing."
            ),
            input_schema=server_metrics.SCHEMA,
            function=server_metrics.server_metrics,
        ),
        BuiltinTool(
            name="read_result",
            title="Read a full result",
            description=(
                "The whole of an earlier answer that was shortened, page by page. "
                "Use it when a shortened answer lacks the part you need."
            ),
            input_schema=READ_RESULT_SCHEMA,
            function=_read_result,
        ),
        BuiltinTool(
            name="tool_search",
            title="Search tools",
            description=(
                "Finds tools by what they do and gives their names, descriptions and input "
                "schemas. Use it when no tool you see does what you need; then call what you found "
                "by its name, or with call_tool where that is listed."
            ),
            input_schema=tool_search.SCHEMA,
            function=_tool_search,
        ),
        BuiltinTool(
            name="call_tool",
            title="Call a tool",
            description=(
                "Runs the tool of the given name and gives its result. "
                "Use it for tools that tool_search found and that are not listed themselves."
            ),
            input_schema=tool_search.CALL_SCHEMA,
            function=tool_search.call_tool,
            read_only=False,
            # What it does is up to the tool it runs.
            destructive=True,
            idempotent=False,
        ),
    )
}


class BuiltinBackend:
    """Runs the function a tool's `handler` names.

    The figures of the three status tools are shared for a second between callers, so a cancelled
    call may leave that one read to finish for the others.
    """

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        tool = BUILTINS.get(spec.handler)
        if tool is None:
            raise ExecutionFailed(f"{spec.name} is not available in this version of the service")
        return BackendResult(data=await tool.function(arguments, context.caller))


def register_builtins() -> None:
    """Let this backend serve the built-in tools."""
    registry.register(ToolSource.BUILTIN, BuiltinBackend())
