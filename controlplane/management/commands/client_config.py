"""`manage.py client_config`: what to paste into a client."""

from __future__ import annotations

import os
import re
import sys
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from controlplane.runtime.control import SupervisorClient
from controlplane.runtime.instance import read_instance
from controlplane.runtime.refusal import StartRefused
from controlplane.runtime.service import local_address, readable
from tools.conf import ServiceSettings, deployment
from tools.contracts import Transport
from tools.selectors import Catalogue, load_catalogue
from tools.services.client_config import (
    CLIENTS,
    KEY_VARIABLE,
    ONE_WAY,
    TRANSPORTS,
    Connection,
    Launch,
    usual_transport,
)


class Command(BaseCommand):
    """Prints the text for one client on standard output, and where it goes on standard error."""

    help = "Print what to paste into a client so that it uses this service. No key is printed."
    requires_system_checks = []

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client", choices=CLIENTS, help="The client to set up.")
        parser.add_argument("--url", help="Address clients reach the service at.")
        parser.add_argument("--toolset", default="", metavar="SLUG", help="Use this one alone.")
        parser.add_argument(
            "--transport",
            choices=[transport.value for transport in TRANSPORTS],
            help="How to connect; what suits the client unless given.",
        )
        parser.add_argument(
            "--key-variable",
            metavar="NAME",
            help=f"Variable that holds the API key; {KEY_VARIABLE} where keys are required.",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with readable():
                catalogue = load_catalogue()
        except StartRefused as fault:
            raise CommandError(str(fault)) from None
        setup = CLIENTS[options["client"]](self._connection(catalogue, options))
        self.stdout.write(setup.text, ending="")
        told = [f"Paste it into {setup.place}.", *setup.notes]
        if setup.command:
            told.append(f"Or run: {setup.command}")
        for line in told:
            self.stderr.write(line, style_func=str)

    def _connection(self, catalogue: Catalogue, options: dict[str, Any]) -> Connection:
        toolset, service = options["toolset"], catalogue.settings
        if toolset and toolset not in catalogue.toolsets:
            known = ", ".join(sorted(catalogue.toolsets)) or "none"
            raise CommandError(f"There is no toolset {toolset!r}. Known: {known}.")
        chosen = options["transport"]
        if chosen and options["client"] in ONE_WAY:
            raise CommandError(f"{options['client']} has no transports to choose from.")
        transport = Transport(chosen) if chosen else usual_transport(options["client"])
        return Connection(
            service=service.service_name,
            base_url=_address(options["url"], service),
            transport=transport,
            toolset=toolset,
            key_variable=_key_variable(options["key_variable"], transport, service),
            launch=Launch.here(sys.executable, settings.BASE_DIR, os.environ),
        )


def _address(url: str | None, service: ServiceSettings) -> str:
    if url is not None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query:
            raise CommandError(f"--url must be such as https://tools.example.com; got {url!r}.")
        return url
    instance = read_instance(settings.RUNTIME_PATHS)
    if instance is not None and SupervisorClient(settings.RUNTIME_PATHS).alive():
        return instance.address
    return local_address(service.service_host, service.service_port)


def _key_variable(name: str | None, transport: Transport, service: ServiceSettings) -> str:
    if name is not None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise CommandError(f"--key-variable must be the name of a variable; got {name!r}.")
        return name
    # At stdio the operator of this machine needs no key.
    needed = service.security_api_keys_enabled or deployment().oauth is not None
    return KEY_VARIABLE if needed and transport is not Transport.STDIO else ""
