"""Before look-up: a call of the generic `call_tool` becomes a call of the tool it names.

So limits, cache, journal and errors are those of the real tool, whichever way it was reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tools.contracts import ToolCall, ToolSource
from tools.selectors import Catalogue

GENERIC: Final = "call_tool"


def aim(call: ToolCall, catalogue: Catalogue) -> ToolCall:
    """`call`, or the one it asks for. One that names no tool stays: validation says what is wrong."""
    if call.tool != GENERIC:
        return call
    spec = catalogue.tools.get(GENERIC)
    if spec is None or spec.source is not ToolSource.BUILTIN or spec.handler != GENERIC:
        return call
    name, arguments = call.arguments.get("name"), call.arguments.get("arguments", {})
    nothing_else = call.arguments.keys() <= {"name", "arguments"}
    if not isinstance(name, str) or not isinstance(arguments, Mapping) or not nothing_else:
        return call
    return replace(call, tool=name, arguments=arguments)
