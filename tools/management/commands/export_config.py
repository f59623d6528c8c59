"""Writes a service configuration file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from tools.conf import ConfigurationFault
from tools.services.apply_config import export_config, to_yaml
from tools.services.tool_exchange import export_tools


class Command(BaseCommand):
    """Writes a service's configuration, its tools or both as the YAML that `apply_config` reads."""

    help = "Write a service configuration as YAML, with or without the tools."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", help="the service; default: the one this installation serves")
        parser.add_argument("--with-tools", action="store_true", help="also write the tools")
        parser.add_argument("--only-tools", action="store_true", help="write the tools alone")
        parser.add_argument("--output", metavar="FILE", help="write here; default: standard output")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            document = {} if options["only_tools"] else export_config(options["name"])
            if options["only_tools"] or options["with_tools"]:
                document |= export_tools()
            text = to_yaml(document)
            if options["output"]:
                Path(options["output"]).write_text(text, encoding="utf-8")
            else:
                self.stdout.write(text, ending="")
        except ConfigurationFault as fault:
            raise CommandError("; ".join(fault.faults)) from fault
        except OSError as fault:
            target = options["output"] or "Standard output"
            raise CommandError(f"{target} cannot be written: {fault}") from fault
