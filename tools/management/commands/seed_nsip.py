"""`manage.py seed_nsip`: the shipped tools of the NSIP sheep genetics API."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from tools.management.database import ready_database
from tools.services.seed_nsip import seed_nsip


class Command(BaseCommand):
    """Creates the NSIP service and its nine tools where they are missing."""

    help = "Create the NSIP service and its nine tools where missing."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--enable", action="store_true", help="Let agents see and call the tools at once."
        )
        parser.add_argument("--base-url", default="", help="Another address of the API.")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        ready_database(self.stdout)
        try:
            done = seed_nsip(enable=options["enable"], base_url=options["base_url"])
        except ValidationError as fault:
            raise CommandError("; ".join(fault.messages)) from fault
        for name in done.created:
            self.stdout.write(f"created {name}")
        if not done.created:
            self.stdout.write("All nine tools are there.")
        if not done.enabled:
            self.stdout.write(
                "Agents do not see them yet: switch the HTTP API nsip on in the admin, or run "
                "this command with --enable."
            )
