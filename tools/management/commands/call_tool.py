"""`manage.py call_tool`: one call from the shell, through the same path as every other."""

from __future__ import annotations

import asyncio
import getpass
import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from tools.contracts import CallerKind, Credentials, Envelope, ToolCall, Transport
from tools.execution import execute
from tools.execution.runtime import open_runtime


class Command(BaseCommand):
    """Calls a tool as the operator and prints the envelope; exit code 1 when the call failed."""

    help = "Call a tool as the operator and print the answer."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tool", help="Name of the tool.")
        parser.add_argument(
            "arguments",
            nargs="?",
            default="{}",
            help="Its arguments as a JSON object; - reads stdin.",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        call = ToolCall(
            tool=options["tool"],
            arguments=_arguments(options["arguments"]),
            credentials=Credentials(kind=CallerKind.LOCAL, name=getpass.getuser()),
            transport=Transport.CLI,
        )
        envelope = asyncio.run(_run(call))
        self.stdout.write(json.dumps(envelope.to_wire(), indent=2, ensure_ascii=False))
        if not envelope.success:
            raise CommandError(f"{envelope.code}: {envelope.error}", returncode=1)


async def _run(call: ToolCall) -> Envelope:
    async with open_runtime():
        return await execute(call)


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as fault:
        raise CommandError(f"The arguments are not JSON: {fault}", returncode=2) from None
    if not isinstance(value, dict):
        raise CommandError(
            "The arguments must be a JSON object, such as '{\"a\": 1}'.", returncode=2
        )
    return value
