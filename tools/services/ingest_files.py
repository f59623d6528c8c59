"""Files of this machine into a corpus: what `manage.py ingest` and the demo corpus do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.conf import deployment
from tools.models import Corpus, Document, IndexVersion
from tools.pipelines.blocks.embedder import canonical
from tools.services.documents import Added, CorpusFault, Refused, add_upload, remove_document
from tools.services.index_opening import UNFINISHED


def open_corpus(
    slug: str, *, create: bool = False, title: str = "", embedding_model: str = ""
) -> Corpus:
    """The corpus of that name, made if it may be; `embedding_model` changes its model.

    Raises:
        CorpusFault: there is none.
        ValidationError: the slug or the model's name cannot be used.
    """
    corpus: Corpus | None = Corpus.objects.filter(slug=slug).first()
    if corpus is None:
        if not create:
            known = ", ".join(Corpus.objects.values_list("slug", flat=True)) or "none"
            raise CorpusFault(f"There is no corpus {slug}; known: {known}. --create makes it.")
        corpus = Corpus(slug=slug, title=title)
    before = corpus.embedding_model if Corpus.objects.filter(slug=slug).exists() else None
    if embedding_model:
        corpus.embedding_model = canonical(embedding_model)
    if corpus.embedding_model != before:
        corpus.save()
    return corpus


def add_files(corpus: Corpus, files: Iterable[tuple[str, Path]]) -> Iterator[Added | Refused]:
    """Add files under their names, one after the other; archives as what is in them."""
    largest = deployment().rag.max_document_bytes
    for name, path in files:
        try:
            size = path.stat().st_size
            # Not read at all: it would be refused, and need not fit into memory.
            content = path.read_bytes() if size <= largest else b""
        except OSError as fault:
            yield Refused(name, f"It cannot be read: {fault.strerror}.")
            continue
        if size > largest:
            yield Refused(name, f"It has {size} bytes; the largest document has {largest}.")
        else:
            yield from add_upload(corpus, name, content)


def prune(corpus: Corpus, kept: set[str]) -> int:
    """Remove the documents that are not named; how many."""
    doomed = [
        document
        for document in Document.objects.filter(corpus=corpus).defer("content")
        if document.name not in kept
    ]
    for document in doomed:
        remove_document(document)
    return len(doomed)


def unfinished(version: IndexVersion) -> bool:
    """Whether the version is being built or about to be switched to or followed; reads its row."""
    version.refresh_from_db()
    return version.state in UNFINISHED or version.asked_again
