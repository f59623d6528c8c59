"""Puts a version together when all its parts are there, and switches to it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from django.db import transaction
from django.db.models import F

from tools.models import Document, IndexEntry, IndexVersion
from tools.models.corpora import DocumentStatus, EntryState, VersionState
from tools.pipelines.contracts import BlockUnavailable, IndexSpec
from tools.pipelines.index import layout
from tools.pipelines.index.assemble import Member, PartMissing, Plan, assemble
from tools.selectors.specs import index_spec
from tools.services.documents import CorpusFault
from tools.services.index_entries import expected_part
from tools.services.index_switch import activate, forget_corpus

logger = logging.getLogger(__name__)

LONGEST_ERROR: Final = 1000
_COLUMNS: Final = ("document__name", "part", "chunks", "document__source", "document__metadata")


def assemble_version(version_id: int, beat: Callable[[], None] = lambda: None) -> bool:
    """Put the version together and switch to it, if it is time.

    Gives False when parts are still missing, or somebody else is at it.
    """
    version = IndexVersion.objects.select_related("corpus").filter(pk=version_id).first()
    if version is None:
        return True
    spec = IndexSpec(**index_spec(version))
    with layout.only_one(layout.version_lock(spec.folder)) as mine:
        if not mine:
            return False
        version.refresh_from_db()
        if version.state == VersionState.BUILDING:
            if IndexEntry.objects.filter(version=version, state=EntryState.PENDING).exists():
                return False
            try:
                _assemble(version, beat)
            except PartMissing as missing:
                _make_again(version, missing.key)
                return False
    if version.state == VersionState.READY:
        _switch_to(version)
    return True


def fail_version(version_id: int, reason: str) -> None:
    """Give up on a version; what was made of its documents is kept for the next."""
    IndexVersion.objects.filter(pk=version_id, state=VersionState.BUILDING).update(
        state=VersionState.FAILED, error=reason[:LONGEST_ERROR], finished_at=datetime.now(UTC)
    )


def abandon_version(version_id: int, reason: str) -> None:
    """Give up on a version, and on the one that was to follow it: what is missing is missing for both."""
    building = IndexVersion.objects.filter(pk=version_id, state=VersionState.BUILDING)
    building.update(asked_again=False)
    fail_version(version_id, reason)


def holds_what_is_there(version: IndexVersion) -> bool:
    """Whether a version that has ended is made of its corpus' documents as they are now."""
    return fingerprint(version) == (
        version.statistics.get("fingerprint") or _fingerprint_of_entries(version)
    )


def fingerprint(version: IndexVersion) -> str:
    """What a version made like this one of the documents as they are now would be known by."""
    rows = Document.objects.filter(corpus_id=version.corpus_id)
    columns = ("name", "media_type", "digest", "title", "source", "metadata")
    return _fingerprint(
        (name, expected_part(version, media_type, digest, title), source, metadata)
        for name, media_type, digest, title, source, metadata in rows.exclude(
            status=DocumentStatus.DUPLICATE
        ).values_list(*columns)
    )


def _assemble(version: IndexVersion, beat: Callable[[], None]) -> None:
    entries = IndexEntry.objects.filter(version=version)
    done = list(entries.filter(state=EntryState.DONE).values_list(*_COLUMNS))
    # Databases sort in orders of their own.
    members = [
        Member(name, part, chunks, {**metadata, "source": source or name})
        for name, part, chunks, source, metadata in sorted(done, key=lambda row: row[0])
    ]
    failed = entries.filter(state=EntryState.FAILED)
    if failed.exists() and not members:
        fail_version(version.pk, "None of the documents could be read.")
        version.refresh_from_db()
        return
    spec = IndexSpec(**index_spec(version))
    known_by = _fingerprint_of_entries(version)
    try:
        meta = assemble(Plan(spec, members, version.chunking, known_by), beat)
    except PartMissing:
        raise
    except Exception as fault:
        # Nobody waits for a task: the row is where the operator looks.
        logger.exception("Version %d of %s cannot be put together", version.number, spec.corpus)
        told = str(fault) if isinstance(fault, BlockUnavailable) else "the log says why"
        fail_version(version.pk, f"The version cannot be put together: {told}.")
        version.refresh_from_db()
        return
    now = datetime.now(UTC)
    kept = IndexVersion.objects.filter(pk=version.pk).update(
        state=VersionState.READY,
        chunks=meta["chunks"],
        done_documents=len(members),
        failed_documents=failed.count(),
        total_documents=entries.count(),
        statistics=meta,
        finished_at=now,
        touched_at=now,
    )
    if kept:
        version.refresh_from_db()
    else:
        # Its corpus was deleted meanwhile, with the files there were then.
        forget_corpus(version.corpus_id, [(version.store, version.pk)])


def _switch_to(version: IndexVersion) -> None:
    newer = IndexVersion.objects.filter(corpus=version.corpus_id, number__gt=version.number)
    if newer.filter(state=VersionState.ACTIVE).exists():
        # It was overtaken while nobody was there to switch to it.
        IndexVersion.objects.filter(pk=version.pk).update(state=VersionState.RETIRED)
        return
    try:
        activate(version)
    except CorpusFault as fault:
        # The row says so too; the version in use stays.
        logger.warning("Version %d of %s: %s", version.number, version.corpus.slug, fault)
    version.refresh_from_db()


def _make_again(version: IndexVersion, part: str) -> None:
    """Let a part that was lost be made anew."""
    with transaction.atomic():
        lost = IndexEntry.objects.filter(version=version, part=part, state=EntryState.DONE)
        chunks = sum(lost.values_list("chunks", flat=True))
        count = lost.update(state=EntryState.PENDING, part="", chunks=0)
        IndexVersion.objects.filter(pk=version.pk).update(
            done_documents=F("done_documents") - count, chunks=F("chunks") - chunks
        )


def _fingerprint_of_entries(version: IndexVersion) -> str:
    names = ("document__name", "part", "document__source", "document__metadata")
    return _fingerprint(IndexEntry.objects.filter(version=version).values_list(*names))


def _fingerprint(rows: Iterable[tuple[Any, ...]]) -> str:
    lines = sorted(orjson.dumps(row, option=orjson.OPT_SORT_KEYS) for row in rows)
    return hashlib.sha256(b"\n".join(lines)).hexdigest()
