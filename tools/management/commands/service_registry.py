"""Imports and exports the service registry."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from tools.conf import ConfigurationFault
from tools.services.apply_config import to_yaml
from tools.services.service_registry import export_registry, import_registry


class Command(BaseCommand):
    """Takes the services of a `services.yaml` into the registry, or writes the registry as one."""

    help = "Import services from a services.yaml into the registry, or export the registry."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=("import", "export"))
        parser.add_argument(
            "file", nargs="?", default="-", help="the YAML file; - for standard input or output"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="with import: check and report, save nothing"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        stream = "standard input" if options["action"] == "import" else "standard output"
        name = stream if options["file"] == "-" else options["file"]
        try:
            if options["action"] == "export":
                self._export(options["file"])
            else:
                self._import(options["file"], dry_run=options["dry_run"])
        except (OSError, UnicodeDecodeError) as fault:
            raise CommandError(f"{name} cannot be used: {fault}") from fault
        except ConfigurationFault as fault:
            lines = "\n  ".join(fault.faults)
            raise CommandError(f"{name} was not imported:\n  {lines}") from fault

    def _export(self, file: str) -> None:
        text = to_yaml(export_registry())
        if file == "-":
            self.stdout.write(text, ending="")
        else:
            Path(file).write_text(text, encoding="utf-8")

    def _import(self, file: str, *, dry_run: bool) -> None:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        done = import_registry(text, dry_run=dry_run)
        would = "would be " if dry_run else ""
        for word, names in (("added", done.added), ("changed", done.changed)):
            for one in names:
                self.stdout.write(f"{one}: {would}{word}: {done.told[one]}")
        self.stdout.write(f"{len(done.same)} with nothing to change")
