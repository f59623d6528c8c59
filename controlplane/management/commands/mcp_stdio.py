"""`manage.py mcp_stdio`: MCP over standard input and output, for clients that start their servers."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from controlplane.runtime.refusal import StartRefused
from tools.contracts import CallerKind, Credentials


class Command(BaseCommand):
    """Serves one client until it closes its end; works beside a running control plane and alone."""

    help = "Serve MCP over standard input and output. Clients start this themselves."
    # They would only delay the first answer; `up` runs them.
    requires_system_checks = []

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--toolset", default="", metavar="SLUG", help="Serve this one alone.")
        parser.add_argument(
            "--key",
            default="",
            help="API key to call with. Others can read it in `ps`: better set CONTROL_PLANE_KEY.",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        from controlplane.listener import listen
        from tools.mcp_server.listener import TransportSettings

        credentials = stdio_credentials(options["key"], options["toolset"])
        try:
            listen(TransportSettings(), credentials, speaker(self))
        except StartRefused as fault:
            raise CommandError(str(fault)) from None


def stdio_credentials(key: str, toolset: str) -> Credentials:
    """Whom the client at stdio calls as: a key's holder, or the operator of this machine."""
    key = (key or os.environ.get("CONTROL_PLANE_KEY", "")).strip()
    if key:
        return Credentials(kind=CallerKind.API_KEY, secret=key, toolset=toolset)
    return Credentials(kind=CallerKind.LOCAL, name=_user(), toolset=toolset)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # In a container the number may have no name.
        return str(os.getuid())


def speaker(command: BaseCommand) -> Callable[[str], None]:
    """Tells the operator something, where it does no harm to the messages."""

    def say(text: str) -> None:
        command.stderr.write(text, style_func=str)

    return say
