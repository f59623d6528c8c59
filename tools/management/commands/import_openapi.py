"""`manage.py import_openapi`: operations of an OpenAPI document as tools of an HTTP API."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from tools.management.database import ready_database
from tools.openapi import DocumentFault
from tools.services.fetch_document import FetchFault, fetch_document
from tools.services.import_openapi import Preview, apply, open_service, preview

MOST_TOLD: Final = 20


class Command(BaseCommand):
    """Shows what a document would do, and does it unless told only to show."""

    help = "Import the operations of an OpenAPI or Swagger document as tools."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("document", help="A file, or an http(s) address.")
        parser.add_argument("--service", required=True, help="Slug of the HTTP API.")
        parser.add_argument(
            "--base-url", default="", help="Address of an API that is new; else the document's."
        )
        parser.add_argument(
            "--prefix", default="", help="Prefix of the tools of an API that is new."
        )
        parser.add_argument(
            "--allow-network",
            action="append",
            default=[],
            help="A private network that the API (and the document) may be in.",
        )
        parser.add_argument("--dry-run", action="store_true", help="Only show what would be done.")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        ready_database(self.stdout)
        networks = tuple(options["allow_network"])
        try:
            text = _text(options["document"], networks)
            service = open_service(
                options["service"],
                text,
                origin=options["document"] if _is_address(options["document"]) else "",
                base_url=options["base_url"],
                prefix=options["prefix"],
                networks=networks,
            )
            found = preview(text, service)
            self._show(found)
            if options["dry_run"]:
                self.stdout.write("Nothing was saved.")
                return
            done = apply(found, service)
        except (DocumentFault, FetchFault) as fault:
            raise CommandError(str(fault)) from fault
        except ValidationError as fault:
            raise CommandError("; ".join(fault.messages)) from fault
        for key, reason in list(done.refused.items())[:MOST_TOLD]:
            self.stderr.write(f"not taken: {key}: {reason}")
        if done.kept_edits:
            self.stdout.write(f"left as changed by hand: {', '.join(done.kept_edits)}")
        self.stdout.write(
            f"{len(done.added)} added, {len(done.changed)} changed, "
            f"{len(done.switched_off)} switched off, {len(done.refused)} not taken"
        )

    def _show(self, found: Preview) -> None:
        about = found.imported
        self.stdout.write(
            f"{about.title} {about.version}: {len(about.operations)} operations can be tools, "
            f"{len(about.refused)} cannot"
        )
        for one in about.refused[:MOST_TOLD]:
            self.stdout.write(f"cannot: {one.key}: {one.reason}")
        if len(about.refused) > MOST_TOLD:
            self.stdout.write(f"cannot: {len(about.refused) - MOST_TOLD} more")
        for key, name in found.collisions.items():
            self.stdout.write(f"name taken: {key}: another tool is named {name}")
        for change in found.changes.changed:
            note = ", which breaks callers" if change.breaks else ""
            self.stdout.write(f"changed: {change.key}: {', '.join(change.fields)}{note}")
        for key in found.changes.removed:
            self.stdout.write(f"gone: {key}")


def _text(document: str, networks: tuple[str, ...]) -> str | bytes:
    if _is_address(document):
        return fetch_document(document, networks)
    try:
        return Path(document).read_bytes()
    except OSError as fault:
        raise CommandError(f"{document} cannot be read: {fault.strerror}", returncode=2) from fault


def _is_address(document: str) -> bool:
    return document.startswith(("http://", "https://"))
