"""Definitions of the built-in tools, and the backend that runs them."""

from __future__ import annotations

from typing import Any

import pytest

from tools.backends.builtin import BUILTINS, BuiltinBackend
from tools.backends.ports import ports
from tools.backends.rag_tools import TECHNIQUES
from tools.backends.registry import registry
from tools.contracts import CallContext, Caller, CallerKind, Deadline, ToolSource, ToolSpec
from tools.errors import ExecutionFailed
from tools.schemas import object_schema_faults

REQUEST_ID = "0d3b9a62-6a0e-4f2c-9a58-0f3b6a1c2d4e"
CALLER = Caller(CallerKind.LOCAL, "local:test", "test", rate_per_minute=1000)
CONTEXT = CallContext(CALLER, Deadline.after(30))


def shape(schema: Any) -> Any:
    """A schema without the texts for readers."""
    if isinstance(schema, dict):
        return {key: shape(value) for key, value in schema.items() if key != "description"}
    return schema


def test_the_built_in_tools_are_these() -> None:
    assert set(BUILTINS) == {
        "rag_health_check",
        "rag_metrics",
        "server_metrics",
        "read_result",
        "tool_search",
        "call_tool",
    }
    assert all(name == tool.name for name, tool in BUILTINS.items())


def test_rag_health_check_takes_two_switches_and_needs_nothing() -> None:
    # F0-10
    assert shape(BUILTINS["rag_health_check"].input_schema) == {
        "type": "object",
        "properties": {
            "include_details": {"type": "boolean", "default": False},
            "include_performance_metrics": {"type": "boolean", "default": True},
        },
        "required": [],
        "additionalProperties": False,
    }


def test_rag_metrics_takes_a_range_techniques_and_a_switch() -> None:
    # F0-11
    assert shape(BUILTINS["rag_metrics"].input_schema) == {
        "type": "object",
        "properties": {
            "time_range": {
                "type": "string",
                "enum": ["5m", "15m", "1h", "6h", "24h", "7d"],
                "default": "1h",
            },
            "technique_filter": {
                "type": "array",
                "items": {
                    "type": "string",
                    "enum": [
                        "rag_basic",
                        "rag_basic_rerank",
                        "rag_crag",
                        "rag_graphrag",
                        "rag_pylate_colbert",
                        "rag_iris_global_graphrag",
                    ],
                },
                "default": [],
            },
            "include_error_details": {"type": "boolean", "default": False},
        },
        "required": [],
        "additionalProperties": False,
    }
    assert len(TECHNIQUES) == 6


def test_server_metrics_needs_no_arguments() -> None:
    schema = BUILTINS["server_metrics"].input_schema
    assert schema["required"] == []
    assert schema["properties"]["time_range"]["default"] == "1h"
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_definitions_can_be_saved_and_say_when_to_use_the_tool(name: str) -> None:
    # S0-005, S0-006, S0-007
    tool = BUILTINS[name]
    assert object_schema_faults(dict(tool.input_schema)) == []
    assert "Use it" in tool.description
    assert len(tool.description) >= 10
    assert name.startswith(tool.required_prefix)
    # call_tool does whatever the tool does that it runs.
    assert tool.read_only is (name != "call_tool")
    assert tool.destructive is (name == "call_tool")
    assert tool.idempotent is (name != "call_tool")


async def test_call_tool_itself_runs_nothing() -> None:
    tool = BUILTINS["call_tool"]
    spec = ToolSpec(tool.name, "passes on", tool.input_schema, ToolSource.BUILTIN, tool.name)
    with pytest.raises(ExecutionFailed, match="only passes calls on"):
        await BuiltinBackend().call(spec, {"name": "server_metrics"}, CONTEXT)


async def test_read_result_reads_what_the_process_kept_for_the_caller() -> None:
    asked: list[tuple[str, str]] = []

    async def kept(request_id: str, owner: str) -> str:
        asked.append((request_id, owner))
        return '{"records": [1, 2, 3]}'

    spec = ToolSpec("read_result", "reads", {"type": "object"}, ToolSource.BUILTIN, "read_result")
    before, ports.read_result = ports.read_result, kept
    try:
        arguments = {"request_id": REQUEST_ID, "pointer": "/records", "page": 1, "page_size": 2}
        result = await BuiltinBackend().call(spec, arguments, CONTEXT)
    finally:
        ports.read_result = before
    assert asked == [(REQUEST_ID, "local:test")]
    assert result.data["items"] == [1, 2]


async def test_a_handler_this_version_does_not_have_is_an_execution_error() -> None:
    spec = ToolSpec("old_tool", "was there once", {"type": "object"}, ToolSource.BUILTIN, "gone")
    with pytest.raises(ExecutionFailed, match="old_tool is not available"):
        await BuiltinBackend().call(spec, {}, CONTEXT)


def test_the_backend_is_registered_for_built_in_tools() -> None:
    assert isinstance(registry.get(ToolSource.BUILTIN), BuiltinBackend)
