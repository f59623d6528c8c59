"""Corpora for the REST door, by their slugs and as plain values; each function is one use case.

What cannot be done is raised from the tree of `tools.errors`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from tools.conf import value_faults
from tools.contracts import wire_time
from tools.errors import (
    Conflict,
    ErrorDetails,
    InvalidArguments,
    PathNotFound,
    UnsupportedMediaType,
)
from tools.models import Corpus, Document, IndexVersion
from tools.models.corpora import DocumentStatus, VersionState
from tools.pipelines.reading import UnreadableDocument, media_type_of
from tools.services.corpora import (
    Added,
    CorpusFault,
    Refused,
    activate,
    add_document,
    add_upload,
    another_follows,
    corpus_status,
    remove_corpora,
    remove_document,
    start_index,
)

# What a caller may set. The quality gate reads a folder of this machine, so it is the operator's.
SETTABLE: Final = ("title", "description", "embedding_model", "chunk_tokens", "chunk_overlap")
NUMBERS: Final = frozenset({"chunk_tokens", "chunk_overlap"})
SHOWN: Final = ("slug", *SETTABLE, "largest_loss", "gate_dataset")
DOCUMENT_FIELDS: Final = (
    "name",
    "title",
    "source",
    "media_type",
    "digest",
    "size",
    "metadata",
    "status",
    "error",
    "chunk_count",
)
STATUSES: Final = tuple(status.value for status in DocumentStatus)
# Reasons in one message; an archive may have thousands of files that cannot be read.
MOST_TOLD: Final = 10


def list_corpora() -> dict[str, Any]:
    """Every corpus with how it stands."""
    return {"corpora": [_shown(corpus) for corpus in Corpus.objects.order_by("slug")]}


def create_corpus(values: Mapping[str, Any]) -> dict[str, Any]:
    """A new corpus without documents."""
    _check(values, ("slug", *SETTABLE))
    slug = values.get("slug")
    if isinstance(slug, str) and Corpus.objects.filter(slug=slug).exists():
        raise _taken(slug)
    return _saved(Corpus(**values))


def read_corpus(slug: str) -> dict[str, Any]:
    return _shown(_corpus(slug))


def status_of(slug: str) -> dict[str, Any]:
    """How the documents and the index versions of a corpus stand."""
    return corpus_status(_corpus(slug))


def change_corpus(slug: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Change what is named; the index is made anew only when the next version is built."""
    _check(values, SETTABLE)
    corpus = _corpus(slug)
    for name, value in values.items():
        setattr(corpus, name, value)
    return _saved(corpus)


def delete_corpus(slug: str) -> dict[str, Any]:
    """Remove a corpus with its documents and its index versions."""
    try:
        remove_corpora([_corpus(slug)])
    except CorpusFault as fault:
        raise _in_the_way(fault) from fault
    return {"deleted": slug}


def list_documents(slug: str, *, page: int, page_size: int, status: str = "") -> dict[str, Any]:
    """One page of the documents of a corpus, by name, without their bytes."""
    rows = Document.objects.filter(corpus=_corpus(slug)).defer("content").order_by("name")
    if status:
        rows = rows.filter(status=status)
    total = rows.count()
    begin = (page - 1) * page_size
    return {
        "documents": [_document_shown(row) for row in rows[begin : begin + page_size]],
        "page": page,
        "page_size": page_size,
        "pages": max(1, -(-total // page_size)),
        "total": total,
    }


def read_document(slug: str, number: int) -> dict[str, Any]:
    return _document_shown(_document(slug, number))


def delete_document(slug: str, number: int) -> dict[str, Any]:
    """Take a document out; queries find it until the next index version is in use."""
    document = _document(slug, number)
    remove_document(document)
    return {"deleted": number, "name": document.name}


def upload_file(slug: str, name: str, content: bytes, *, title: str, source: str) -> dict[str, Any]:
    """Add one file, or every file of an archive."""
    corpus = _corpus(slug)
    try:
        media_type = media_type_of(name, content)
    except UnreadableDocument as fault:
        raise UnsupportedMediaType(
            f"{name[:200]}: {fault}",
            ErrorDetails(parameter="name", suggestion="Send a file of a supported format"),
        ) from fault
    if not (title or source) or media_type == "application/zip":
        return _told(add_upload(corpus, name, content))
    try:
        return _told([add_document(corpus, name, content, title=title, source=source)])
    except CorpusFault as fault:
        raise InvalidArguments(str(fault)) from fault


def upload_files(slug: str, files: Iterable[tuple[str, bytes]]) -> dict[str, Any]:
    """Add several files; those that cannot be taken do not stop the rest."""
    corpus = _corpus(slug)
    results: list[Added | Refused] = []
    for name, content in files:
        results += add_upload(corpus, name, content)
    return _told(results)


def begin_index(slug: str, *, force: bool) -> dict[str, Any]:
    """Have workers build a new index version; what is in use stays until it is whole."""
    corpus = _corpus(slug)
    try:
        version = start_index(corpus, force=force)
    except CorpusFault as fault:
        raise _in_the_way(fault) from fault
    return {
        "version": version.number,
        "state": version.state,
        "another_follows": another_follows(corpus),
        **_addresses(slug),
    }


def switch_version(slug: str, number: int, *, force: bool) -> dict[str, Any]:
    """Let queries use another version, newer or older; with `force` also one that the gate refused."""
    corpus = _corpus(slug)
    version = IndexVersion.objects.filter(corpus=corpus, number=number).first()
    if version is None:
        raise PathNotFound(f"The corpus {slug} has no index version {number}")
    # Asking the gate again would take as long as it did, and say the same.
    if version.state == VersionState.REFUSED and not force:
        raise Conflict(
            f"The quality gate refused version {number}: {version.error}".rstrip("."),
            ErrorDetails(suggestion='Send {"force": true} to use it all the same'),
        )
    try:
        activate(version, force=force)
    except CorpusFault as fault:
        raise _in_the_way(fault) from fault
    return {"version": number, "state": VersionState.ACTIVE.value, **_addresses(slug)}


def _corpus(slug: str) -> Corpus:
    corpus: Corpus | None = Corpus.objects.filter(slug=slug).first()
    if corpus is None:
        raise PathNotFound(
            f"There is no corpus {slug[:64]}",
            ErrorDetails(
                available=tuple(Corpus.objects.values_list("slug", flat=True)[:50]),
                suggestion="GET /api/corpora lists them",
            ),
        )
    return corpus


def _document(slug: str, number: int) -> Document:
    rows = Document.objects.filter(corpus=_corpus(slug), pk=number)
    document = rows.defer("content").first()
    if document is None:
        raise PathNotFound(f"The corpus {slug} has no document {number}")
    return document


def _check(values: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse names that nobody may set, and values of another kind than their fields hold."""
    for name, value in values.items():
        expected = ""
        if name not in known:
            expected = f"only {', '.join(known)}"
        elif type(value) is not (kind := int if name in NUMBERS else str):
            expected = "a whole number" if kind is int else "a text"
        elif value_faults(value):
            expected = "a text without characters that cannot be stored"
        if expected:
            raise InvalidArguments(
                f"Invalid parameter: {name[:100]}",
                ErrorDetails(parameter=name[:100], expected=expected),
            )


def _saved(corpus: Corpus) -> dict[str, Any]:
    try:
        with transaction.atomic():
            corpus.save()
    except IntegrityError as fault:
        # Two of the same name at the same moment.
        raise _taken(corpus.slug) from fault
    except ValidationError as fault:
        raise _invalid(corpus, fault) from fault
    return _shown(corpus)


def _invalid(corpus: Corpus, fault: ValidationError) -> InvalidArguments:
    name, messages = next(iter(fault.message_dict.items()))
    value = getattr(corpus, name, None)
    return InvalidArguments(
        f"Invalid parameter: {name}",
        ErrorDetails(
            parameter=name,
            value=value if isinstance(value, int | float) else str(value)[:100],
            expected=" ".join(messages),
        ),
    )


def _taken(slug: str) -> Conflict:
    return Conflict(
        f"There is a corpus {slug[:64]} already",
        ErrorDetails(parameter="slug", value=slug[:64], suggestion="Choose another slug"),
    )


def _in_the_way(fault: CorpusFault) -> Conflict:
    return Conflict(str(fault).rstrip("."))


def _told(results: list[Added | Refused]) -> dict[str, Any]:
    """What became of each file.

    Raises:
        InvalidArguments: when none was taken.
    """
    refused = [one for one in results if isinstance(one, Refused)]
    if len(refused) == len(results):
        reasons = " ".join(f"{one.name[:200]}: {one.reason}" for one in refused[:MOST_TOLD])
        raise InvalidArguments(
            f"No document was taken. {reasons}".strip(),
            ErrorDetails(suggestion="Send files of a supported format that are not empty"),
        )
    return {
        "results": [_result(one) for one in results],
        "changed": sum(isinstance(one, Added) and one.outcome != "unchanged" for one in results),
        "refused": len(refused),
    }


def _result(one: Added | Refused) -> dict[str, Any]:
    if isinstance(one, Refused):
        return {"name": one.name, "outcome": "refused", "reason": one.reason}
    return {"name": one.name, "outcome": one.outcome, "id": one.document.pk}


def _shown(corpus: Any) -> dict[str, Any]:
    return {
        **{name: getattr(corpus, name) for name in SHOWN},
        "created_at": wire_time(corpus.created_at),
        "updated_at": wire_time(corpus.updated_at),
        "status": corpus_status(corpus),
        **_addresses(corpus.slug),
    }


def _addresses(slug: str) -> dict[str, str]:
    return {"status_url": f"/api/corpora/{slug}/status"}


def _document_shown(document: Any) -> dict[str, Any]:
    return {
        "id": document.pk,
        **{name: getattr(document, name) for name in DOCUMENT_FIELDS},
        "uploaded_at": wire_time(document.uploaded_at),
        "updated_at": wire_time(document.updated_at),
    }
