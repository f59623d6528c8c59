"""Calls of the NSIP tools as the path makes them: arguments checked, then the backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.nsip_server import NsipServer
from tools.backends.http_api import HttpApiBackend
from tools.contracts import CallContext, Caller, CallerKind, Deadline, ToolSource, ToolSpec
from tools.execution.validation import Validators, validate
from tools.services.nsip_tools import NSIP, NSIP_TOOLS, NsipTool

TOOLS = {tool.name: tool for tool in NSIP_TOOLS}
CALLER = Caller(CallerKind.LOCAL, "local:test", "test", rate_per_minute=1000)


def spec_of(tool: NsipTool, server: NsipServer, **service: Any) -> ToolSpec:
    """The tool as the path knows it, bound to the stand-in."""
    bound = replace(NSIP, base_url=server.url, allowed_networks=("127.0.0.1/32",), **service)
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        source=ToolSource.HTTP_API,
        handler=tool.name,
        requires_context_management=tool.requires_context_management,
        preserve_keys=tool.preserve_keys,
        binding={
            "service": bound.to_json(),
            "operation": tool.operation.to_json(),
            "adapter": tool.adapter,
            "rules": dict(tool.rules),
        },
    )


async def call(
    server: NsipServer, name: str, /, service: Any = None, schema: Any = None, **arguments: Any
) -> Any:
    """What the tool answers; `service` changes what the service is like, `schema` what it takes."""
    spec = spec_of(TOOLS[name], server, **(service or {}))
    spec = replace(spec, input_schema=schema or spec.input_schema)
    checked = validate(spec, arguments, Validators())
    backend = HttpApiBackend()
    try:
        result = await backend.call(spec, checked, CallContext(CALLER, Deadline.after(20)))
    finally:
        await backend.close()
    return result.data
