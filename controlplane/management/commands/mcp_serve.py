"""`manage.py mcp_serve`: a process that serves MCP alone, as the MCP_* variables say."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from controlplane.management.commands.mcp_stdio import speaker, stdio_credentials
from controlplane.runtime.refusal import StartRefused


class Command(BaseCommand):
    """Serves one transport, or stdio and HTTP/SSE together, until SIGTERM or SIGINT.

    The database and Redis are those of the control plane, which may run beside it or not.
    """

    help = "Serve MCP alone, on an address of its own: set MCP_TRANSPORT and MCP_PORT."
    requires_system_checks = []

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        from controlplane.listener import listen
        from tools.mcp_server.listener import TransportSettings

        try:
            chosen = TransportSettings.from_environment(os.environ)
        except ValueError as fault:
            raise CommandError(str(fault)) from None
        try:
            listen(chosen, stdio_credentials("", chosen.toolset), speaker(self))
        except StartRefused as fault:
            raise CommandError(str(fault)) from None
