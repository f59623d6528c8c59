"""One document of an index version at a time: read, cut, embedded, written down."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from django.db import transaction
from django.db.models import F, QuerySet

from tools.models import Chunk, Document, IndexEntry, IndexVersion
from tools.models.corpora import DocumentStatus, EntryState, VersionState
from tools.pipelines.index import layout
from tools.pipelines.index.parts import Part, PartSettings, Source, made_part, part_key
from tools.pipelines.reading import UnreadableDocument
from tools.services.documents import lock_documents

# A document that ended this many workers is not tried again.
MOST_ATTEMPTS: Final = 3
LONGEST_ERROR: Final = 1000
LONGEST_HEADING: Final = 500
SAVED_CHUNKS: Final = 500

Beat = Callable[[], None]


def settings_of(version: IndexVersion) -> PartSettings:
    """How the documents of this version are cut and embedded."""
    chunking = version.chunking
    return PartSettings(version.embedding_model, chunking["tokens"], chunking["overlap"])


def ingest_document(version: IndexVersion, document_id: int, beat: Beat) -> bool:
    """Make the document's part of the version, unless that was done.

    Gives False when somebody else is at it. Doing it twice changes and counts nothing.

    Raises:
        EmbedderUnavailable: the version's model cannot be used here.
    """
    with layout.only_one(layout.document_lock(document_id)) as mine:
        if not mine:
            return False
        entry = (
            IndexEntry.objects.filter(version=version, document_id=document_id)
            .filter(state=EntryState.PENDING, version__state=VersionState.BUILDING)
            .first()
        )
        document = Document.objects.filter(pk=document_id).first()
        # Done already, or deleted meanwhile.
        if entry is None or document is None:
            return True
        if entry.attempts >= MOST_ATTEMPTS:
            _fail(entry, document, "Reading it ended the worker several times.")
            return True
        # The part tells what is being read, so that a document replaced meanwhile is known to wait.
        key = expected_part(version, document.media_type, document.digest, document.title)
        IndexEntry.objects.filter(pk=entry.pk).update(attempts=F("attempts") + 1, part=key)
        try:
            part = made_part(settings_of(version), source_of(document), beat)
        except UnreadableDocument as fault:
            _fail(entry, document, str(fault))
        except Exception:
            # Not the document's fault: only what ends the whole process counts against it.
            IndexEntry.objects.filter(pk=entry.pk).update(attempts=entry.attempts, part="")
            raise
        else:
            _finish(entry, document, part)
        return True


def source_of(document: Document) -> Source:
    """A document as its part depends on it."""
    return Source(
        name=document.name,
        media_type=document.media_type,
        digest=document.digest,
        title=document.title,
        content=bytes(document.content),
    )


def expected_part(version: IndexVersion, media_type: str, digest: str, title: str) -> str:
    """The key of the part that a document with these columns has in a version made like this one."""
    return part_key(settings_of(version), media_type, digest, title)


def _finish(entry: IndexEntry, document: Document, part: Part) -> None:
    with transaction.atomic():
        lock_documents(pk=document.pk)
        if not _settle(entry, EntryState.DONE, part.key, len(part)):
            return
        changed = _as_read(document).update(
            status=DocumentStatus.READY,
            error=" ".join(part.notes)[:LONGEST_ERROR],
            title=part.title,
            chunk_count=len(part),
        )
        if changed and not _cut_like_this(entry, part):
            _save_chunks(document, part)
        IndexVersion.objects.filter(pk=entry.version_id).update(
            done_documents=F("done_documents") + 1,
            chunks=F("chunks") + len(part),
            touched_at=datetime.now(UTC),
        )


def _fail(entry: IndexEntry, document: Document, reason: str) -> None:
    with transaction.atomic():
        lock_documents(pk=document.pk)
        version = entry.version
        key = expected_part(version, document.media_type, document.digest, document.title)
        if not _settle(entry, EntryState.FAILED, key, 0):
            return
        failed = _as_read(document).update(
            status=DocumentStatus.FAILED, error=reason[:LONGEST_ERROR], chunk_count=0
        )
        if failed:
            Chunk.objects.filter(document=document).delete()
        IndexVersion.objects.filter(pk=version.pk).update(
            failed_documents=F("failed_documents") + 1, touched_at=datetime.now(UTC)
        )


def _as_read(document: Document) -> QuerySet[Document]:
    """Its row, unless it was replaced meanwhile: then what was found is about something that is gone."""
    return Document.objects.filter(
        pk=document.pk,
        digest=document.digest,
        media_type=document.media_type,
        title=document.title,
    )


def _settle(entry: IndexEntry, state: EntryState, part: str, chunks: int) -> bool:
    """Whether this is the one who ends the entry; everything else that counts hangs on it."""
    pending = IndexEntry.objects.filter(pk=entry.pk, state=EntryState.PENDING)
    return bool(pending.update(state=state, part=part, chunks=chunks, attempts=0))


def _cut_like_this(entry: IndexEntry, part: Part) -> bool:
    """Whether the chunks that people see are those of this part already."""
    # They go when it fails or becomes a duplicate, and its part may come back.
    if Chunk.objects.filter(document=entry.document_id).count() != len(part):
        return False
    others = IndexEntry.objects.filter(document_id=entry.document_id, state=EntryState.DONE)
    latest = others.exclude(pk=entry.pk).order_by("-version_id").values_list("part", flat=True)
    return latest.first() == part.key


def _save_chunks(document: Document, part: Part) -> None:
    Chunk.objects.filter(document=document).delete()
    Chunk.objects.bulk_create(
        (
            Chunk(
                document=document,
                ordinal=ordinal,
                text=chunk.text,
                heading=chunk.heading[:LONGEST_HEADING],
                page=chunk.page,
                tokens=chunk.tokens,
            )
            for ordinal, chunk in enumerate(part.chunks)
        ),
        batch_size=SAVED_CHUNKS,
    )
