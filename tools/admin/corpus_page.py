"""What the page of a corpus shows beside its form: documents, index versions, how far a build is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db.models import Count
from django.urls import reverse

from tools.admin.versions import progress_of
from tools.conf import deployment
from tools.models import Document, IndexEntry
from tools.models.corpora import DocumentStatus, EntryState, VersionState
from tools.services.index_opening import UNFINISHED, another_follows, waiting_documents

MOST_VERSIONS: Final = 10
MOST_FAILED: Final = 20
MOST_READING: Final = 3
# A worker takes a build up in less; one that rested for so long has lost its workers.
PATIENCE: Final = timedelta(seconds=10)
STALLED: Final = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class Build:
    """A version that is being built."""

    version: Any
    settled: int
    percent: int
    reading: tuple[str, ...]
    remaining: str
    told: str
    waiting: int
    followed: bool


def corpus_page(corpus: Any, *, may_change: bool) -> dict[str, Any]:
    """The context of the page."""
    documents = Document.objects.filter(corpus=corpus)
    counts = dict(documents.order_by().values_list("status").annotate(Count("pk")))
    failed = documents.filter(status=DocumentStatus.FAILED).defer("content", "metadata")
    versions = list(corpus.versions.all())
    building = next((one for one in versions if one.state == VersionState.BUILDING), None)
    active = next((one for one in versions if one.state == VersionState.ACTIVE), None)
    waiting = {} if building is None else {building.pk: waiting_documents(building)}
    followed = another_follows(corpus, waiting)
    return {
        "corpus": corpus,
        "may_change": may_change,
        "counts": [(status.value, counts.get(status.value, 0)) for status in DocumentStatus],
        "documents_total": sum(counts.values()),
        "documents_address": documents_address(corpus),
        "failed": list(failed.order_by("name")[:MOST_FAILED]),
        "failed_total": counts.get(DocumentStatus.FAILED.value, 0),
        "versions": [progress_of(version) for version in versions[:MOST_VERSIONS]],
        "versions_left": max(0, len(versions) - MOST_VERSIONS),
        "building": None
        if building is None
        else _build(building, waiting[building.pk], followed=followed),
        "busy": followed or any(one.state in UNFINISHED for one in versions),
        "active": active,
        "gone": 0 if active is None else documents_gone(active),
        # Also of nothing: an index in use may still hold what was there before.
        "buildable": active is not None or bool(counts),
        "largest": deployment().rag.max_document_bytes,
    }


def documents_address(corpus: Any) -> str:
    return f"{reverse('admin:tools_document_changelist')}?corpus__id__exact={corpus.pk}"


def documents_gone(active: Any) -> int:
    """How many documents the version in use holds that the corpus does not have any more."""
    # With a document its entry goes; what was counted when the version was put together stays.
    left = IndexEntry.objects.filter(version=active, state=EntryState.DONE).count()
    return max(0, int(active.done_documents) - left)


def _build(version: Any, waiting: int, *, followed: bool) -> Build:
    now = datetime.now(UTC)
    settled = version.done_documents + version.failed_documents
    left = version.total_documents - settled
    pending = IndexEntry.objects.filter(version=version, state=EntryState.PENDING)
    reading = pending.filter(attempts__gt=0).order_by("document_id")
    names = tuple(reading.values_list("document__name", flat=True)[:MOST_READING])
    seconds = (now - version.created_at).total_seconds()
    known = settled and left and seconds > 1
    return Build(
        version=version,
        settled=settled,
        percent=min(100, 100 * settled // max(1, version.total_documents)),
        reading=names,
        remaining=_span(left * seconds / settled) if known else "",
        told=_told(version, now, left, begun=bool(settled or names)),
        waiting=waiting,
        followed=followed,
    )


def _told(version: Any, now: datetime, left: int, *, begun: bool) -> str:
    """What keeps it, or what it is at."""
    if now - version.touched_at > STALLED:
        return "Nobody has worked on it for a while. It is taken up again by itself within two minutes."
    if not begun and now - version.created_at > PATIENCE:
        return "No worker has begun yet. If none is running, manage.py up starts them."
    if version.total_documents and not left:
        return "All documents are read; the index is being put together."
    return "" if begun else "Waiting for a worker."


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 90 else f"about {round(minutes / 60)} h"
