"""Corpora for the doors: their documents, their index versions, and how both stand."""

from __future__ import annotations

from tools.services.corpus_status import corpus_status
from tools.services.documents import (
    Added,
    CorpusFault,
    Refused,
    add_document,
    add_upload,
    remove_document,
)
from tools.services.index_opening import another_follows, version_after
from tools.services.index_versions import (
    activate,
    build_index,
    resume_indexes,
    roll_back,
    start_index,
)
from tools.services.remove_corpora import remove_corpora
from tools.services.retry_documents import retry_documents

__all__ = [
    "Added",
    "CorpusFault",
    "Refused",
    "activate",
    "add_document",
    "add_upload",
    "another_follows",
    "build_index",
    "corpus_status",
    "remove_corpora",
    "remove_document",
    "resume_indexes",
    "retry_documents",
    "roll_back",
    "start_index",
    "version_after",
]
