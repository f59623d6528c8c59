"""`manage.py sync_upstream`: ask MCP servers what they offer, and put it into the catalogue."""

from __future__ import annotations

from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from tools.management.database import ready_database
from tools.services.look_upstream import LookFault, enabled_slugs, look
from tools.services.sync_upstream import UnknownServer

MOST_TOLD: Final = 20
# What became of things, in the words of the report.
_WORDS: Final = {
    "added": "added",
    "waiting": "waits for approval",
    "changed": "changed, quarantined",
    "gone": "no longer offered",
    "back": "as it was approved again",
}


class Command(BaseCommand):
    """Discovers in this process; needs neither a worker nor Redis."""

    help = "Ask MCP servers what they offer, and put it into the catalogue."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slugs", nargs="*", metavar="SLUG", help="The servers to ask.")
        parser.add_argument("--all", action="store_true", help="Every server that is switched on.")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["slugs"]) == options["all"]:
            raise CommandError("Name the servers to ask, or give --all.", returncode=2)
        ready_database(self.stdout)
        slugs = enabled_slugs() if options["all"] else options["slugs"]
        failed = [slug for slug in slugs if not self._ask(slug)]
        if failed:
            count = f"{len(failed)} of {len(slugs)} servers" if len(slugs) > 1 else failed[0]
            raise CommandError(f"{count} could not be asked.")
        if not slugs:
            self.stdout.write("No MCP server is switched on.")

    def _ask(self, slug: str) -> bool:
        try:
            shown = look(slug, refresh=True).to_json()
        except (LookFault, UnknownServer) as fault:
            self.stderr.write(f"{slug}: {fault}")
            for line in getattr(fault, "error_lines", ()):
                self.stderr.write(f"{slug}: it wrote: {line}")
            return False
        self._show(slug, shown)
        return True

    def _show(self, slug: str, shown: dict[str, Any]) -> None:
        about, counts = shown["server_info"], shown["counts"]
        name = " ".join(filter(None, (about.get("name"), about.get("version"))))
        found = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        self.stdout.write(
            f"{slug}: {name or 'a server without a name'}, protocol {shown['protocol_version']}, "
            f"{found or 'nothing offered'}, {shown['seconds']:.2f} s"
        )
        for key, word in _WORDS.items():
            names = shown["changes"][key]
            for one in names[:MOST_TOLD]:
                self.stdout.write(f"{word}: {one}")
            if len(names) > MOST_TOLD:
                self.stdout.write(f"{word}: {len(names) - MOST_TOLD} more")
        if not any(shown["changes"].values()):
            self.stdout.write("Nothing has changed.")
        for warning in shown["warnings"]:
            self.stdout.write(f"warning: {warning}")
