"""Applies a service configuration file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from tools.conf import ConfigurationFault
from tools.services.apply_config import apply_config, read_document


class Command(BaseCommand):
    """Makes a service be as a YAML document says; running processes follow within a second."""

    help = "Apply a YAML service configuration. A wrong file changes nothing."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the YAML file, or - for standard input")
        parser.add_argument(
            "--dry-run", action="store_true", help="check and report, but save nothing"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        name = "standard input" if options["file"] == "-" else options["file"]
        try:
            document = read_document(_content(options["file"]))
            result = apply_config(document, dry_run=options["dry_run"])
        except (OSError, UnicodeDecodeError) as fault:
            raise CommandError(f"{name} cannot be read: {fault}") from fault
        except ConfigurationFault as fault:
            lines = "\n  ".join(fault.faults)
            raise CommandError(f"{name} was not applied:\n  {lines}") from fault
        would = "would be " if options["dry_run"] else ""
        if result.created:
            self.stdout.write(f"{result.name}: {would}created")
        elif result.changed:
            self.stdout.write(f"{result.name}: {would}changed: {', '.join(result.changed)}")
        else:
            self.stdout.write(f"{result.name}: nothing to change")


def _content(file: str) -> str:
    return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
