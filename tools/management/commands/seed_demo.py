"""Creates demo data."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from tools.services.seed_demo import DEMO_CLIENT, seed_demo


class Command(BaseCommand):
    """Creates the service, the built-in tools, a toolset and a demo client where they are missing."""

    help = "Create the service, built-in tools, a toolset and a demo client where missing."

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = seed_demo()
        except ValidationError as fault:
            raise CommandError("; ".join(fault.messages)) from fault
        for word, rows in (("created", result.created), ("updated", result.updated)):
            for row in rows:
                self.stdout.write(f"{word} {row}")
        for row in result.skipped:
            self.stderr.write(f"left alone: {row}")
        if not (result.created or result.updated or result.skipped):
            self.stdout.write("nothing to do")
        if result.demo_key:
            self.stdout.write(
                f"\nKey of {DEMO_CLIENT} (not shown again):\n\n    {result.demo_key}\n"
            )
