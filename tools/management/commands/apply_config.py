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
from tools.services.tool_exchange import Plan, State


class Command(BaseCommand):
    """Makes a service and its tools be as a YAML document says; running processes follow at once."""

    help = "Apply a YAML service configuration and tools. A wrong file changes nothing."

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
        if result.tools is not None:
            self._tell_tools(result.tools, would)
        if not result.name:
            return
        if result.created:
            self.stdout.write(f"{result.name}: {would}created")
        elif result.changed:
            self.stdout.write(f"{result.name}: {would}changed: {', '.join(result.changed)}")
        else:
            self.stdout.write(f"{result.name}: nothing to change")

    def _tell_tools(self, plan: Plan, would: str) -> None:
        for one in plan.of(State.NEW):
            self.stdout.write(f"tool {one.name}: {would}created")
        for one in plan.of(State.CHANGED):
            self.stdout.write(f"tool {one.name}: {would}changed: {', '.join(one.fields)}")
        self.stdout.write(f"tools: {len(plan.of(State.SAME))} with nothing to change")


def _content(file: str) -> str:
    return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
