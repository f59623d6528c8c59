"""Collections with judgements as corpora: ingested like any documents, found again by their ids."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from tools.models import Corpus, Document, IndexVersion
from tools.models.corpora import DocumentStatus, VersionState
from tools.pipelines.evaluation.datasets import Dataset, JudgedDocument
from tools.pipelines.evaluation.runs import Task
from tools.pipelines.reading import JSONL
from tools.services.documents import CorpusFault, add_document
from tools.services.index_versions import build_index
from tools.services.ingest_files import open_corpus, prune

SLUG_START: Final = "eval-"
LONGEST_SLUG: Final = 64
# Called with what is being done, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Ingested:
    """The index version to measure on, what to measure with, and documents that are not in it."""

    version: IndexVersion
    task: Task
    left_out: dict[str, str]


def slug_of(dataset: Dataset) -> str:
    """The corpus that a collection is kept in when none is named."""
    plain = re.sub(r"[^a-z0-9]+", "-", dataset.name.casefold()).strip("-") or "collection"
    return f"{SLUG_START}{plain}"[:LONGEST_SLUG].rstrip("-")


def ingest_dataset(
    dataset: Dataset, slug: str, *, keep_others: bool, progress: Progress
) -> Ingested:
    """Bring a corpus up to the collection and its index up to the corpus.

    What is there already is left alone, so that a second run is quick. Documents that the collection
    does not have are removed unless `keep_others`.

    Raises:
        CorpusFault: the index cannot be built or is not let into use.
    """
    corpus = open_corpus(slug, create=True, title=f"{dataset.name}, for measuring")
    left_out = _add(corpus, dataset, progress)
    if not keep_others:
        wanted = dataset.documents.keys() - left_out.keys()
        prune(corpus, {document_name(document_id) for document_id in wanted})
    version = build_index(
        corpus,
        lambda building: progress("Embedding", building.done_documents, building.total_documents),
    )
    if version.state != VersionState.ACTIVE:
        raise CorpusFault(f"Version {version.number} of {slug} is {version.state}: {version.error}")
    left_out |= _unreadable(corpus, dataset)
    return Ingested(version, task_for(corpus, dataset), left_out)


def task_for(corpus: Corpus, dataset: Dataset) -> Task:
    """How the documents of a corpus are known in the judgements of a collection."""
    judged = {document for grades in dataset.judgements.values() for document in grades}
    by_name = {document_name(document_id): document_id for document_id in judged}
    same = _same_documents(corpus)

    def ids(name: str) -> Sequence[str]:
        return [by_name.get(other, other) for other in same.get(name, (name,))]

    return Task(dataset, Document.objects.filter(corpus=corpus).count(), ids)


def document_name(document_id: str) -> str:
    """A document's name in the corpus; ids may hold what paths give a meaning to."""
    return quote(document_id, safe=" +,;:=@()[]{}'!$&").replace("..", "%2E%2E").strip()


def _add(corpus: Corpus, dataset: Dataset, progress: Progress) -> dict[str, str]:
    there = Document.objects.filter(corpus=corpus).values_list("name", "digest")
    known = dict(there.iterator(chunk_size=5000))
    left_out: dict[str, str] = {}
    for done, document in enumerate(dataset.documents.values(), start=1):
        name, content = document_name(document.document_id), _content(document)
        if not (document.title.strip() or document.text.strip()):
            left_out[document.document_id] = "It is empty."
        elif known.get(name) != hashlib.sha256(content).hexdigest():
            try:
                add_document(corpus, name, content, media_type=JSONL)
            except CorpusFault as fault:
                left_out[document.document_id] = str(fault)
        progress("Adding documents", done, len(dataset.documents))
    return left_out


def _unreadable(corpus: Corpus, dataset: Dataset) -> dict[str, str]:
    """Documents of the collection that no passage could be made of, and why."""
    failed = Document.objects.filter(corpus=corpus, status=DocumentStatus.FAILED)
    reasons = dict(failed.values_list("name", "error"))
    named = ((document_id, document_name(document_id)) for document_id in dataset.documents)
    return {document_id: reasons[name] for document_id, name in named if name in reasons}


def _content(document: JudgedDocument) -> bytes:
    """A document as a record, so that its title is kept apart from its text."""
    record = {"title": document.title, "text": document.text.strip() or document.title}
    return json.dumps(record).encode()


def _same_documents(corpus: Corpus) -> dict[str, list[str]]:
    """For documents that others have the content of: themselves and those others, which the index
    leaves out."""
    rows = Document.objects.filter(corpus=corpus)
    copies = rows.filter(status=DocumentStatus.DUPLICATE)
    digests = set(copies.values_list("digest", flat=True))
    groups: dict[str, list[tuple[bool, str]]] = {}
    for name, digest, status in _columns(rows):
        if digest in digests:
            groups.setdefault(digest, []).append((status == DocumentStatus.DUPLICATE, name))
    return {min(group)[1]: [name for _, name in sorted(group)] for group in groups.values()}


def _columns(rows: Any) -> Iterator[tuple[str, str, str]]:
    yield from rows.values_list("name", "digest", "status").iterator(chunk_size=5000)
