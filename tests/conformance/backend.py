"""The fixtures that the product's own path can run: it calls this backend for them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection

from tests.conformance.rounds import elicit
from tools.contracts import BackendResult, CallContext, ToolSpec
from tools.errors import ExecutionFailed
from tools.models import Prompt, Tool

CHANGED = "test_simple_text"
CHANGED_PROMPT = "test_simple_prompt"
_CONFIRM = elicit("Shall it be done?", "confirm", "boolean")
_QUESTIONS = {
    "confirm_delete": {"confirm": _CONFIRM},
    "multi_input": {"name": elicit("What is your name?", "name"), "confirm": _CONFIRM},
}


class FixtureBackend:
    """Does the work of the fixture named by the tool's handler; unknown ones just answer."""

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        if (questions := _QUESTIONS.get(spec.handler)) is not None:
            return BackendResult(data=await context.ask(questions))
        match spec.handler:
            case "test_error_handling":
                raise ExecutionFailed("This tool intentionally returns an error for testing")
            case "test_tool_with_progress":
                for done in (0, 50, 100):
                    await context.report(done, 100)
                    await asyncio.sleep(0.05)
            case "slow_compute":
                await asyncio.sleep(arguments.get("seconds", 0))
            case "failing_job":
                raise ExecutionFailed("This job always fails")
            case "protocol_error_job":
                raise RuntimeError("A bug on command")
            case "test_trigger_tool_change":
                await sync_to_async(_change_tool, thread_sensitive=False)()
            case "test_trigger_prompt_change":
                await sync_to_async(_change_prompt, thread_sensitive=False)()
        return BackendResult(data={"fixture": spec.name, "arguments": dict(arguments)})


def _change_tool() -> None:
    _reword(Tool.objects.get(name=CHANGED))


def _change_prompt() -> None:
    _reword(Prompt.objects.get(name=CHANGED_PROMPT))


def _reword(row: Tool | Prompt) -> None:
    """Change a row the way the admin does; the product tells the clients."""
    row.description += "."
    try:
        row.save()
    finally:
        connection.close()
