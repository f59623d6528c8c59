"""Issues an API key."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from tools.services.issue_key import IssueRefused, issue_key


class Command(BaseCommand):
    """Creates an API client, or replaces its key, and prints the key once."""

    help = "Create an API client (or replace its key) and print the key, once."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", help="name of the client, such as the program that holds the key"
        )
        parser.add_argument(
            "--toolset",
            action="append",
            default=[],
            dest="toolsets",
            metavar="SLUG",
            help="toolset the client may use; repeat for several",
        )
        parser.add_argument(
            "--rate-limit", type=int, metavar="N", help="calls per minute, at least 10"
        )
        parser.add_argument(
            "--manages-corpora",
            action=BooleanOptionalAction,
            help="whether it may create, fill, index and delete corpora over REST (default: no)",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="give an existing client a new key; the old one stops working",
        )
        parser.add_argument(
            "--old-key-hours",
            type=int,
            default=0,
            metavar="N",
            help="with --replace: the old key works for so many hours longer (default: 0, at most 720)",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            issued = issue_key(
                options["name"],
                toolsets=options["toolsets"],
                rate_limit_per_minute=options["rate_limit"],
                manages_corpora=options["manages_corpora"],
                replace=options["replace"],
                old_for=timedelta(hours=max(0, options["old_key_hours"])),
            )
        except IssueRefused as fault:
            raise CommandError(str(fault)) from fault
        granted = ", ".join(toolset.slug for toolset in issued.client.toolsets.all())
        self.stdout.write(f"Key of {issued.client.name} (not shown again):\n\n    {issued.key}\n")
        self.stdout.write("Send it with each call, as either header:\n")
        self.stdout.write(f"    Authorization: Bearer {issued.key}")
        self.stdout.write(f"    X-API-Key: {issued.key}\n")
        if granted:
            self.stdout.write(f"It may use the tools of: {granted}")
        else:
            self.stderr.write(
                "It may use no tools yet: grant it a toolset in the admin, or with --replace --toolset."
            )
