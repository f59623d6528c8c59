"""Builds index versions beside the one in use and switches to them in one step.

A version's documents are listed as entries. Workers make the parts of the entries; when none is
pending, one of them assembles the version. Each step can be repeated at any time by anybody: what was
done is found done, so a build goes on after any crash.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from tools.models import Corpus, IndexEntry, IndexVersion
from tools.models.corpora import EntryState, VersionState
from tools.pipelines.blocks.embedder import EmbedderUnavailable
from tools.services.documents import CorpusFault
from tools.services.index_assembly import abandon_version, assemble_version
from tools.services.index_entries import ingest_document
from tools.services.index_opening import (
    UNFINISHED,
    ended_but_asked_for_again,
    indexed_documents,
    open_next,
    open_version,
    version_after,
)
from tools.services.index_switch import activate, roll_back
from tools.services.index_workers import index_workers

__all__ = ["abandon_version", "activate", "roll_back"]

# A build that did not move for this long has lost its workers, or its messages.
STALE_AFTER: Final = timedelta(seconds=90)
BEAT_EVERY: Final = 5.0
# Small documents share a task: sending and fetching one costs as much as embedding a short passage.
TASK_DOCUMENTS: Final = 32
TASK_BYTES: Final = 64 << 10
WAIT_FOR_OTHERS: Final = 0.2

Report = Callable[[IndexVersion], None]


def start_index(corpus: Corpus, *, force: bool = False) -> IndexVersion:
    """Let workers build the next version: gives it, or the one in use when nothing changed.

    A version that is being built already is given back, and resumed if nobody is at it any more.
    Another follows it then, unless it holds in the end what is there now.

    Raises:
        CorpusFault: there is nothing to index, or its store cannot be had.
    """
    version, new = open_version(corpus, force=force)
    if version.state == VersionState.BUILDING and (new or _stale(version)):
        index_workers.plan(version.pk)
    return version


def build_index(
    corpus: Corpus, report: Report | None = None, *, force: bool = False
) -> IndexVersion:
    """Build the next version in this process, and switch to it; see `start_index`.

    Gives the one that holds what is there now.

    Raises:
        CorpusFault: as `start_index` does.
    """
    version, _ = open_version(corpus, force=force)
    lacking = version.asked_again
    _build_here(version, report)
    begin_next(version.pk)
    after = version_after(version) if lacking else None
    if after is None:
        return version
    _build_here(after, report)
    begin_next(after.pk)
    return after


def begin_next(version_id: int) -> bool:
    """Let workers build the version that follows one that has ended, if one does; see `open_next`."""
    version = open_next(version_id)
    if version is not None:
        index_workers.plan(version.pk)
    return version is not None


def _build_here(version: IndexVersion, report: Report | None) -> None:
    try:
        while version.state == VersionState.BUILDING:
            _list_documents(version)
            waiting = _ingest_here(version, report)
            # Somebody else has the rest, or assembles already.
            if waiting or not assemble_version(version.pk, beat_of(version.pk)):
                time.sleep(WAIT_FOR_OTHERS)
            version.refresh_from_db()
    except EmbedderUnavailable as fault:
        abandon_version(version.pk, str(fault))
        raise CorpusFault(str(fault)) from fault


def _ingest_here(version: IndexVersion, report: Report | None) -> bool:
    """Make all missing parts; whether some were left to others."""
    waiting = False
    for document_id in _pending(version):
        waiting |= not ingest_document(version, document_id, beat_of(version.pk))
        if report:
            version.refresh_from_db()
            report(version)
    return waiting


def plan_version(version_id: int) -> None:
    """List the documents of a version, and let workers make the parts that are missing."""
    version = IndexVersion.objects.filter(pk=version_id, state=VersionState.BUILDING).first()
    if version is None:
        return
    _list_documents(version)
    batches = list(_batches(version))
    for batch in batches:
        index_workers.ingest(version_id, batch)
    if not batches:
        index_workers.assemble(version_id)


def ingest_batch(version_id: int, documents: list[int]) -> None:
    """Make the parts of some documents; whoever makes the last one lets the version be assembled.

    Raises:
        EmbedderUnavailable: the version's model cannot be used here, or not now.
    """
    version = IndexVersion.objects.filter(pk=version_id, state=VersionState.BUILDING).first()
    if version is None:
        return
    beat = beat_of(version_id)
    for document_id in documents:
        beat()
        ingest_document(version, document_id, beat)
    if not _any_pending(version):
        index_workers.assemble(version_id)


def assemble(version_id: int) -> None:
    """Put a version together if all its parts are there; else let the missing ones be made."""
    if assemble_version(version_id, beat_of(version_id)):
        begin_next(version_id)
    else:
        version = IndexVersion.objects.filter(pk=version_id, state=VersionState.BUILDING).first()
        if version is not None and _any_pending(version):
            plan_version(version_id)


def resume_indexes(now: datetime | None = None) -> int:
    """Go on with builds whose workers died or never heard of them; how many there were.

    Those that died before they began the version to follow theirs count as well. While another build
    moves, workers are there and have work: those that wait are left waiting.
    """
    begun = sum(begin_next(pk) for pk in ended_but_asked_for_again().values_list("pk", flat=True))
    before = (now or datetime.now(UTC)) - STALE_AFTER
    open_ones = IndexVersion.objects.filter(state__in=UNFINISHED)
    if open_ones.filter(touched_at__gte=before).exists():
        return begun
    found = list(open_ones)
    for version in found:
        _touch(version.pk)
        if version.state == VersionState.READY:
            index_workers.assemble(version.pk)
        else:
            index_workers.plan(version.pk)
    return begun + len(found)


def beat_of(version_id: int) -> Callable[[], None]:
    """A function that says that this version is being worked on; quick when called often."""
    last = 0.0

    def beat() -> None:
        nonlocal last
        if time.monotonic() - last > BEAT_EVERY:
            last = time.monotonic()
            _touch(version_id)

    return beat


def _stale(version: IndexVersion) -> bool:
    return version.touched_at < datetime.now(UTC) - STALE_AFTER


def _touch(version_id: int) -> None:
    IndexVersion.objects.filter(pk=version_id).update(touched_at=datetime.now(UTC))


def _list_documents(version: IndexVersion) -> None:
    new = indexed_documents(version.corpus_id).exclude(entries__version=version)
    entries = (
        IndexEntry(version=version, document_id=pk) for pk in new.values_list("pk", flat=True)
    )
    IndexEntry.objects.bulk_create(entries, batch_size=1000, ignore_conflicts=True)
    IndexVersion.objects.filter(pk=version.pk).update(
        total_documents=version.entries.count(), touched_at=datetime.now(UTC)
    )


def _any_pending(version: IndexVersion) -> bool:
    return IndexEntry.objects.filter(version=version, state=EntryState.PENDING).exists()


def _pending(version: IndexVersion) -> list[int]:
    pending = IndexEntry.objects.filter(version=version, state=EntryState.PENDING)
    return list(pending.order_by("document_id").values_list("document_id", flat=True))


def _batches(version: IndexVersion) -> Iterator[list[int]]:
    pending = IndexEntry.objects.filter(version=version, state=EntryState.PENDING)
    batch: list[int] = []
    room = TASK_BYTES
    for pk, size in pending.order_by("document_id").values_list("document_id", "document__size"):
        if batch and (len(batch) == TASK_DOCUMENTS or size > room):
            yield batch
            batch, room = [], TASK_BYTES
        batch.append(pk)
        room -= size
    if batch:
        yield batch
