"""How a corpus stands: its documents, its index versions, and how far a build is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import Count, Sum

from tools.models import Corpus, Document, IndexVersion
from tools.models.corpora import DocumentStatus, VersionState
from tools.services.index_opening import another_follows, waiting_documents

LISTED_ERRORS: Final = 20
LISTED_VERSIONS: Final = 20


def corpus_status(corpus: Corpus) -> dict[str, Any]:
    """Documents by status, the versions from the newest on, the one being built, what failed."""
    documents = Document.objects.filter(corpus=corpus)
    counts = dict(documents.order_by().values_list("status").annotate(Count("pk")))
    versions = list(IndexVersion.objects.filter(corpus=corpus)[:LISTED_VERSIONS])
    failed = documents.filter(status=DocumentStatus.FAILED).order_by("name")
    active = IndexVersion.objects.filter(corpus=corpus, state=VersionState.ACTIVE).first()
    building = next((row for row in versions if row.state == VersionState.BUILDING), None)
    progress = None if building is None else _progress(building)
    waiting = {} if building is None or progress is None else {building.pk: progress["waiting"]}
    return {
        "corpus": corpus.slug,
        "documents": {
            "total": sum(counts.values()),
            **{status: counts.get(status, 0) for status in DocumentStatus.values},
            "bytes": documents.aggregate(total=Sum("size"))["total"] or 0,
        },
        "active": _version(active) if active else None,
        "building": progress,
        "another_follows": another_follows(corpus, waiting),
        "versions": [_version(row) for row in versions],
        "errors": [
            {"document": name, "error": error}
            for name, error in failed.values_list("name", "error")[:LISTED_ERRORS]
        ],
    }


def _version(version: IndexVersion) -> dict[str, Any]:
    return {
        "number": version.number,
        "state": str(version.state),
        "embedding_model": version.embedding_model,
        "chunking": version.chunking,
        "store": version.store,
        "documents": version.done_documents,
        "failed_documents": version.failed_documents,
        "chunks": version.chunks,
        "error": version.error,
        "created_at": _time(version.created_at),
        "finished_at": _time(version.finished_at),
        "activated_at": _time(version.activated_at),
        "can_be_used": version.state in {VersionState.RETIRED, VersionState.REFUSED}
        and not version.statistics.get("removed"),
    }


def _progress(version: IndexVersion) -> dict[str, Any]:
    seconds = (datetime.now(UTC) - version.created_at).total_seconds()
    settled = version.done_documents + version.failed_documents
    return {
        **_version(version),
        "done": settled,
        "total": version.total_documents,
        "waiting": waiting_documents(version),
        "percent": round(100 * settled / version.total_documents) if version.total_documents else 0,
        "chunks_per_second": round(version.chunks / seconds, 1) if seconds > 0 else 0.0,
        "last_moved_at": _time(version.touched_at),
    }


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
