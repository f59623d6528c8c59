"""On the page of a tool: how it is called, and its latest calls."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from tools.admin.request_log import addresses
from tools.admin.request_log.words import shown_caller
from tools.models import Tool, ToolRequest
from tools.schemas.example import example_of
from tools.selectors import service_settings
from tools.selectors.live import caller_names
from tools.services.call_examples import Called, from_python, over_mcp, with_curl
from tools.services.client_config import KEY_VARIABLE

MOST_RECENT: Final = 10
_SHOWN: Final = (
    ("curl", "With curl", with_curl),
    ("python", "From Python", from_python),
    ("mcp", "Over MCP", over_mcp),
)


def examples(tool: Tool, base_url: str) -> SafeString:
    """Calls to paste, to the service at `base_url`."""
    arguments = example_of(tool.input_schema)
    given: dict[str, Any] = arguments if isinstance(arguments, dict) else {}
    return render_to_string(
        "tools/admin/tool_examples.html",
        {
            **call_texts(tool.name, given, base_url),
            "complete": _fits(tool.input_schema, given),
        },
    )


def call_texts(tool: str, arguments: dict[str, Any], base_url: str) -> dict[str, Any]:
    """One call as texts to paste, and the variable that holds the key where one is needed."""
    key = KEY_VARIABLE if service_settings().security_api_keys_enabled else ""
    call = Called(tool, arguments, base_url, key)
    return {
        "examples": [
            {"id": f"call-{name}", "lead": lead, "text": write(call)}
            for name, lead, write in _SHOWN
        ],
        "key_variable": key,
    }


def recent(tool: Tool) -> SafeString:
    """The latest calls, each with the way to its row of the request log."""
    found = ToolRequest.objects.filter(tool_id=tool.name).order_by("-received_at")[:MOST_RECENT]
    names = caller_names({row.caller for row in found})
    rows = [(row, shown_caller(row, names)) for row in found]
    log = addresses.of_tool(tool.name)
    return render_to_string("tools/admin/tool_recent.html", {"rows": rows, "log": log})


def _fits(schema: Any, arguments: dict[str, Any]) -> bool:
    try:
        return jsonschema_rs.is_valid(schema, arguments)
    except ValueError:
        # A schema that is none: the page says so elsewhere.
        return False
