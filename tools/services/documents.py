"""Puts documents into a corpus and takes them out; the index follows when it is next built."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.db import transaction

from tools.conf import deployment, value_faults
from tools.models import Chunk, Corpus, Document
from tools.models.audit import Action
from tools.models.corpora import DocumentStatus
from tools.pipelines.reading import UnreadableDocument, expand_archive, media_type_of
from tools.services.audit.recording import record_action
from tools.services.audit.values import change

LONGEST_NAME: Final = 500
LONGEST_TITLE: Final = 500
LONGEST_SOURCE: Final = 1000
ARCHIVE: Final = "application/zip"

Outcome = Literal["added", "updated", "unchanged", "duplicate"]


class CorpusFault(Exception):
    """What was asked for cannot be done; the message is for the operator."""


@dataclass(frozen=True, slots=True)
class Added:
    """A document that is in the corpus now, and what that changed."""

    document: Document
    outcome: Outcome

    @property
    def name(self) -> str:
        return self.document.name


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is not in the corpus, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Given:
    """One document as it was handed in."""

    name: str
    content: bytes
    media_type: str
    digest: str
    title: str
    source: str
    metadata: Mapping[str, Any] | None

    def same_as(self, row: Document) -> bool:
        """Whether the row says all this already; what was not given counts as the same."""
        return (
            row.digest == self.digest
            and row.media_type == self.media_type
            and self.title in {"", row.title}
            and self.source in {"", row.source}
            and (self.metadata is None or self.metadata == row.metadata)
        )


def add_document(
    corpus: Corpus,
    name: str,
    content: bytes,
    *,
    title: str = "",
    source: str = "",
    media_type: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> Added:
    """Put a document into the corpus, in place of the one of that name.

    Raises:
        CorpusFault: it is too large, empty, of no known format, or badly named.
    """
    name = _clean_name(name)
    largest = deployment().rag.max_document_bytes
    if len(content) > largest:
        raise CorpusFault(f"It has {len(content)} bytes; the largest document has {largest}.")
    try:
        found = media_type_of(name, content, media_type)
    except UnreadableDocument as fault:
        raise CorpusFault(str(fault)) from fault
    if found == ARCHIVE:
        raise CorpusFault("It is an archive; upload it as one to add what is in it.")
    _check_words(title, source, metadata)
    digest = hashlib.sha256(content).hexdigest()
    return _put(corpus, _Given(name, content, found, digest, title, source, metadata))


def add_upload(corpus: Corpus, name: str, content: bytes) -> list[Added | Refused]:
    """Add a file, or every file of a zip archive. One that cannot be added does not stop the rest."""
    if not _is_archive(name, content):
        return [_attempt(corpus, name, content)]
    try:
        members = expand_archive(name, content, deployment().rag.max_document_bytes)
    except UnreadableDocument as fault:
        return [Refused(name, str(fault))]
    return [
        Refused(member.name, member.error)
        if member.content is None
        else _attempt(corpus, member.name, member.content)
        for member in members
    ]


def remove_document(document: Document) -> None:
    """Take a document out; queries find it until the next index version is in use."""
    with transaction.atomic():
        _lock(document.corpus_id)
        lock_documents(pk=document.pk)
        _note(Action.DELETED, document, {"digest": change(document.digest, "")})
        document.delete()
        _promote(document.corpus_id, document.digest)


def lock_documents(**which: int) -> None:
    """Keep documents from being deleted while their passages are written, and the other way round.

    Whoever does either takes this lock before those on entries and passages.
    """
    rows = Document.objects.select_for_update().filter(**which).order_by("pk")
    list(rows.values_list("pk"))


def _is_archive(name: str, content: bytes) -> bool:
    try:
        return media_type_of(name, content) == ARCHIVE
    except UnreadableDocument:
        return False


def _attempt(corpus: Corpus, name: str, content: bytes) -> Added | Refused:
    try:
        return add_document(corpus, name, content)
    except CorpusFault as fault:
        return Refused(name, str(fault))


def _put(corpus: Corpus, given: _Given) -> Added:
    with transaction.atomic():
        _lock(corpus.pk)
        row = Document.objects.defer("content").filter(corpus=corpus, name=given.name).first()
        if row is not None and given.same_as(row):
            return Added(row, "unchanged")
        original = (
            Document.objects.filter(corpus=corpus, digest=given.digest)
            .exclude(name=given.name)
            .exclude(status=DocumentStatus.DUPLICATE)
            .values_list("name", flat=True)
            .first()
        )
        new, before = row is None, "" if row is None else row.digest
        row = row or Document(corpus=corpus, name=given.name)
        _fill(row, given, original)
        row.save()
        became = {"digest": change(before, given.digest), "size": change(None, row.size)}
        _note(Action.ADDED if new else Action.CHANGED, row, became)
        if original is not None:
            Chunk.objects.filter(document=row).delete()
        if before not in {"", given.digest}:
            _promote(corpus.pk, before)
    return Added(row, "duplicate" if original is not None else "added" if new else "updated")


def _note(action: Action, row: Document, changes: Mapping[str, Any]) -> None:
    """Documents send no signals when they go: their contents would be read for nothing."""
    name = f"{row.corpus.slug}: {row.name}"
    record_action(action, "tools.document", name, object_id=row.pk, changes=changes)


def _fill(row: Document, given: _Given, original: str | None) -> None:
    row.content = given.content
    row.digest, row.size, row.media_type = given.digest, len(given.content), given.media_type
    # A title that was read out of the old content goes with it.
    row.title = given.title
    row.source = given.source or row.source or given.name
    row.metadata = dict(given.metadata) if given.metadata is not None else row.metadata
    row.status = DocumentStatus.PENDING if original is None else DocumentStatus.DUPLICATE
    row.error = "" if original is None else f"Has the same content as {original}."[:1000]
    row.chunk_count = 0


def _lock(corpus_id: int) -> None:
    """One change of a corpus' documents at a time, so that two equal ones cannot both be first."""
    Corpus.objects.select_for_update().filter(pk=corpus_id).values_list("pk").first()


def _promote(corpus_id: int, digest: str) -> None:
    """Let a duplicate take the place of the document that it was a duplicate of."""
    same = Document.objects.filter(corpus_id=corpus_id, digest=digest)
    if same.exclude(status=DocumentStatus.DUPLICATE).exists():
        return
    first = same.order_by("pk").values_list("pk", flat=True).first()
    if first is not None:
        Document.objects.filter(pk=first).update(status=DocumentStatus.PENDING, error="")


def _clean_name(name: str) -> str:
    cleaned = name.replace("\\", "/").strip().lstrip("/")
    parts = cleaned.split("/")
    if not cleaned or ".." in parts or value_faults(cleaned):
        raise CorpusFault(f"{name!r} cannot be the name of a document.")
    if len(cleaned) > LONGEST_NAME:
        raise CorpusFault(f"The name has {len(cleaned)} characters; at most {LONGEST_NAME}.")
    return cleaned


def _check_words(title: str, source: str, metadata: Mapping[str, Any] | None) -> None:
    faults = value_faults({"title": title, "source": source, "metadata": metadata or {}})
    if len(title) > LONGEST_TITLE:
        faults.append(f"title has {len(title)} characters; at most {LONGEST_TITLE}")
    if len(source) > LONGEST_SOURCE:
        faults.append(f"source has {len(source)} characters; at most {LONGEST_SOURCE}")
    if faults:
        raise CorpusFault(f"{'; '.join(faults)}.".capitalize())
