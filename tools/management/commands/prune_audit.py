"""Removes old entries of the audit trail and old versions of tools."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any, Final

from django.core.management.base import BaseCommand
from typing_extensions import override

from tools.services.prune_audit import prune_audit

# A century; more than that is no date any more.
MOST_DAYS: Final = 36_500


class Command(BaseCommand):
    """Removes what is older than a number of days; the removal leaves an entry itself."""

    help = (
        "Remove entries of the audit trail and versions of tools that are older than a number of days. "
        "The newest version of each tool stays."
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--older-than",
            type=_days,
            required=True,
            metavar="DAYS",
            help="How many days are kept.",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Say how many there are, and remove none."
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        found = prune_audit(options["older_than"], dry_run=options["dry_run"])
        word = "would be removed" if options["dry_run"] else "removed"
        entries = f"{found.entries:,} {'entry' if found.entries == 1 else 'entries'}"
        versions = f"{found.versions:,} {'version' if found.versions == 1 else 'versions'} of tools"
        self.stdout.write(f"{entries} and {versions} {word}")


def _days(text: str) -> int:
    try:
        days = int(text)
    except ValueError:
        days = 0
    if not 1 <= days <= MOST_DAYS:
        raise ArgumentTypeError(f"must be a number of days from 1 to {MOST_DAYS}")
    return days
