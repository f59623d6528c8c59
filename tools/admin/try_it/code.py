"""A filled-in form as texts to paste; nothing is called for that."""

from __future__ import annotations

from typing import Any

from tools.admin.tool_calls import call_texts
from tools.admin.try_it.filling import Arguments
from tools.models import Tool
from tools.schemas import ArgumentFault


def as_code(
    tool: Tool, shown: Arguments, arguments: dict[str, Any], base_url: str
) -> dict[str, Any]:
    """The call with curl, from Python and over MCP; or, of a call that would be refused, why.

    That is also told at its field, as running tells it.
    """
    fault = _fault_of(tool, arguments)
    if fault is None:
        return call_texts(tool.name, arguments, base_url)
    shown.point_out(fault.parameter, f"Expected {fault.expected}.")
    return {"refusal": f"{fault.parameter}: {fault.message}"}


def _fault_of(tool: Tool, arguments: dict[str, Any]) -> ArgumentFault | None:
    try:
        return next(iter(tool.validate_parameters(arguments)), None)
    except ValueError:
        # A schema that is none: the page of the tool says so.
        return None
