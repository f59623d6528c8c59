"""`manage.py up`: from nothing to everything running."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from controlplane.runtime.instance import sole_starter
from controlplane.runtime.oversee import Overseer, StopRequest
from controlplane.runtime.refusal import StartRefused
from controlplane.runtime.startup import Options, Startup, create_folders, quiet_logs, speaker


class Command(BaseCommand):
    """Creates what is missing, starts every process, and stops them all at Ctrl-C.

    Safe to run again: what exists is kept, and a second run beside a first one is refused.
    """

    help = (
        "Start the control plane: database, administrator and demo data are created when missing, "
        "then Redis, web, worker, pipelines and beat run until Ctrl-C."
    )
    # Run after the migrations, which the checks of a fresh folder would miss.
    requires_system_checks = []

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        add_start_arguments(parser)

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        paths = settings.RUNTIME_PATHS
        say = speaker(self.stdout)
        try:
            create_folders(paths)
            with sole_starter(paths), quiet_logs():
                startup = Startup(paths, start_options(options), say)
                launch = startup.prepare()
                request = StopRequest()
                supervisor = startup.start(launch, foreground=True, given_up=lambda: request.made)
                Overseer(launch, supervisor, request, say).run()
        except StartRefused as fault:
            raise CommandError(str(fault)) from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted before anything was started.", returncode=130) from None


def add_start_arguments(parser: CommandParser) -> None:
    """The flags of a start, shared by `up` and `services start`."""
    parser.add_argument("--host", help="Address to listen on. Wins over SERVICE__HOST.")
    parser.add_argument("--port", type=int, help="Port. Wins over SERVICE__PORT.")
    parser.add_argument("--config", metavar="FILE", help="YAML service configuration to apply.")
    parser.add_argument(
        "--no-demo", action="store_true", help="Do not create demo tools and the demo client."
    )
    parser.add_argument(
        "--no-corpus", action="store_true", help="Do not read and index the demo documents."
    )


def start_options(options: dict[str, Any]) -> Options:
    """Those flags, as read."""
    return Options(
        host=options["host"],
        port=options["port"],
        config=options["config"],
        demo=not options["no_demo"],
        corpus=not (options["no_demo"] or options["no_corpus"]),
    )
