"""`manage.py ingest`: files and folders into a corpus, and a new index version of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from tools.management.database import ready_database
from tools.services import corpora, ingest_files

POLL_SECONDS: Final = 0.5
# Without a worker nothing moves; the operator is told after this long.
PATIENCE_SECONDS: Final = 20


class Command(BaseCommand):
    """Adds files to a corpus and builds its next index version."""

    help = "Put files and folders into a corpus and build a new version of its index."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "paths", nargs="*", type=Path, help="Files and folders; folders with all below them."
        )
        parser.add_argument("--corpus", default="documents", help="Slug of the corpus.")
        parser.add_argument(
            "--create", action="store_true", help="Create the corpus when there is none."
        )
        parser.add_argument("--title", default="", help="Title of a corpus that is created.")
        parser.add_argument(
            "--embedding-model", default="", help="Change the model that the index is made with."
        )
        parser.add_argument(
            "--prune", action="store_true", help="Remove documents that are not among the files."
        )
        parser.add_argument(
            "--force", action="store_true", help="Build a new version although nothing changed."
        )
        parser.add_argument(
            "--in-process",
            action="store_true",
            help="Build the index in this process instead of sending it to the workers.",
        )
        waiting = parser.add_mutually_exclusive_group()
        waiting.add_argument(
            "--wait",
            action="store_true",
            default=True,
            help="Wait until an index with these documents is in use.",
        )
        waiting.add_argument(
            "--no-wait", action="store_false", dest="wait", help="Only send it to the workers."
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        missing = [path for path in options["paths"] if not path.exists()]
        if missing:
            raise CommandError(f"{missing[0]} does not exist.", returncode=2)
        ready_database(self.stdout)
        try:
            corpus = ingest_files.open_corpus(
                options["corpus"],
                create=options["create"],
                title=options["title"],
                embedding_model=options["embedding_model"],
            )
            refused = self._add(corpus, options["paths"], prune=options["prune"])
            version = self._index(corpus, options)
        except corpora.CorpusFault as fault:
            raise CommandError(str(fault)) from fault
        except ValidationError as fault:
            raise CommandError("; ".join(fault.messages), returncode=2) from fault
        self._tell(corpus, version, refused, waited=options["wait"] or options["in_process"])

    def _add(self, corpus: Any, paths: list[Path], *, prune: bool) -> int:
        outcomes: Counter[str] = Counter()
        kept: set[str] = set()
        for result in ingest_files.add_files(corpus, _files(paths)):
            if isinstance(result, corpora.Refused):
                outcomes["refused"] += 1
                self.stderr.write(f"{result.name}: {result.reason}")
            else:
                outcomes[result.outcome] += 1
            kept.add(result.name)
        if prune:
            outcomes["removed"] = ingest_files.prune(corpus, kept)
        order = ("added", "updated", "unchanged", "duplicate", "removed", "refused")
        told = ", ".join(f"{outcomes[name]} {name}" for name in order if outcomes[name])
        self.stdout.write(f"Documents: {told or 'none'}")
        return outcomes["refused"]

    def _index(self, corpus: Any, options: dict[str, Any]) -> Any:
        if options["in_process"]:
            return corpora.build_index(corpus, self._progress, force=options["force"])
        version = corpora.start_index(corpus, force=options["force"])
        # Begun before these documents were there: the one that follows it holds them.
        lacking = version.asked_again
        if not options["wait"]:
            return version
        self._follow(version)
        after = corpora.version_after(version) if lacking else None
        if after is None:
            return version
        self._follow(after)
        return after

    def _follow(self, version: Any) -> None:
        """Show how workers get on, until the version is no longer being built."""
        began = time.monotonic()
        told = False
        while ingest_files.unfinished(version):
            self._progress(version)
            time.sleep(POLL_SECONDS)
            late = time.monotonic() - began > PATIENCE_SECONDS
            if late and not told and not version.done_documents:
                told = True
                self.stderr.write("No worker has begun yet. Is one running (manage.py up)?")

    def _progress(self, version: Any) -> None:
        settled = version.done_documents + version.failed_documents
        line = f"Version {version.number}: {settled} of {version.total_documents} documents, "
        line += f"{version.chunks} passages"
        if self.stdout.isatty():
            self.stdout.write(f"\r{line}", ending="")
            self.stdout.flush()

    def _tell(self, corpus: Any, version: Any, refused: int, *, waited: bool) -> None:
        if self.stdout.isatty():
            self.stdout.write("")
        if not waited:
            line = f"Version {version.number} is being built by the workers"
            if corpora.another_follows(corpus):
                line += "; another follows with what has changed since it was begun"
            self.stdout.write(f"{line}.")
            return self._end(refused)
        self.stdout.write(
            f"Version {version.number} is {version.state}: {version.done_documents} documents, "
            f"{version.chunks} passages, {version.embedding_model}, kept in {version.store}"
        )
        errors = corpora.corpus_status(corpus)["errors"]
        for failed in errors:
            self.stderr.write(f"{failed['document']}: {failed['error']}")
        if version.error:
            raise CommandError(version.error)
        self._end(refused + len(errors))

    def _end(self, failed: int) -> None:
        if failed:
            raise CommandError(f"{failed} could not be ingested.")


def _files(paths: list[Path]) -> Iterator[tuple[str, Path]]:
    """Each file with its name in the corpus: the path below the folder that was named."""
    for path in paths:
        if path.is_file():
            yield path.name, path
            continue
        for file in sorted(path.rglob("*")):
            inside = file.relative_to(path)
            hidden = any(part.startswith(".") for part in inside.parts)
            if file.is_file() and not hidden:
                yield inside.as_posix(), file
