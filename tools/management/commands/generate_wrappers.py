"""Generates client wrappers for registered services."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from tools.conf import ConfigurationFault
from tools.management.database import ready_database
from tools.services.fetch_tools import Asking, asking_for_rows
from tools.services.generate_wrappers import NothingToDo, Order, Report, generate_into
from tools.services.service_registry import EMPTY, read_registry, registered
from tools.wrappers.kinds import KINDS, KindFault, parse_kinds
from tools.wrappers.quoting import one_line
from tools.wrappers.registry import ServiceEntry
from tools.wrappers.tree import TreeFault


class Command(BaseCommand):
    """Asks every enabled service for its tools and writes wrappers for each of them."""

    help = "Generate wrappers (scripts, clients, command lines, skills) for registered services."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--services", metavar="FILE", help="read this services.yaml; default: the registry"
        )
        parser.add_argument(
            "--service",
            action="append",
            default=[],
            metavar="NAME",
            help="generate for this service alone; repeat it, or separate names with commas",
        )
        parser.add_argument(
            "--type",
            action="append",
            default=[],
            dest="types",
            metavar="TYPE",
            help=f"{', '.join(KINDS)}; several with commas; default: all",
        )
        parser.add_argument(
            "--templates", metavar="DIR", help="templates of your own, which come before ours"
        )
        parser.add_argument(
            "--output", default="output", metavar="DIR", help="write here (default: output)"
        )
        loudness = parser.add_mutually_exclusive_group()
        loudness.add_argument("--verbose", action="store_true", help="also name removed files")
        loudness.add_argument("--quiet", action="store_true", help="print errors only")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            order = Order(
                entries=tuple(self._entries(options["services"])),
                kinds=parse_kinds(options["types"]),
                only=tuple(_names(options["service"])),
                templates=_folder(options["templates"]),
            )
            # Whoever names a file reads the environment anyway; rows are other people's.
            asking = Asking(keys=os.environ) if options["services"] else asking_for_rows()
            report = generate_into(Path(options["output"]), order, asking)
        except ConfigurationFault as fault:
            lines = "\n  ".join(fault.faults)
            raise CommandError(f"{options['services']} cannot be used:\n  {lines}") from fault
        except (KindFault, NothingToDo, TreeFault) as fault:
            raise CommandError(str(fault)) from fault
        self._tell(report, options)
        if report.errors:
            raise CommandError("Not everything was generated; see above.")

    def _entries(self, file: str | None) -> list[ServiceEntry]:
        if not file:
            ready_database(self.stdout)
            entries = registered()
        else:
            try:
                entries = read_registry(Path(file).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as fault:
                raise CommandError(f"{file} cannot be read: {fault}") from fault
        if not entries:
            raise CommandError(EMPTY if not file else f"{file} has no services")
        return entries

    def _tell(self, report: Report, options: dict[str, Any]) -> None:
        if options["verbose"]:
            for path in report.removed:
                self.stdout.write(f"removed {one_line(path)}")
        for line in report.lines():
            if line.startswith("Error: "):
                self.stderr.write(line)
            elif not options["quiet"]:
                self.stdout.write(line)


def _names(given: list[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _folder(given: str | None) -> Path | None:
    if given is not None and not Path(given).is_dir():
        raise CommandError(f"{given} is no folder with templates")
    return Path(given) if given is not None else None
