"""`manage.py serve`: one web process."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from controlplane.runtime.refusal import StartRefused


class Command(BaseCommand):
    """Serves REST, admin and API documents on one address until SIGTERM or SIGINT.

    Calls in flight are finished first. SIGHUP makes the application read its configuration again.
    """

    help = "Run one web process. `manage.py up` starts this for you, with everything it needs."
    # `up` ran the checks; here they would only delay the first answer.
    requires_system_checks = []

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", help="Address to listen on. Wins over SERVICE__HOST.")
        parser.add_argument("--port", type=int, help="Port. Wins over SERVICE__PORT.")
        parser.add_argument("--instance", help="Label that tells this process from others in `ps`.")

    @override
    def handle(self, *args: Any, host: str | None, port: int | None, **options: Any) -> None:
        from controlplane.runtime.binding import listening_socket
        from controlplane.runtime.server import load
        from controlplane.runtime.service import effective_settings

        try:
            service = effective_settings(host=host, port=port)
            server = load(service.server_graceful_shutdown_seconds)
            with listening_socket(
                settings.RUNTIME_PATHS, service.service_host, service.service_port
            ) as listener:
                server.run(sockets=[listener])
        except StartRefused as fault:
            raise CommandError(str(fault)) from None
