"""Opens index versions: the next one of a corpus, and the one to follow a version that lacks something.

An index that is asked for while one is being built cannot be begun yet, and the one being built may have
read its documents already. The row of that version remembers that it was asked for; whoever finds it
ended opens the next, once, and only if there is something for it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from tools.models import Corpus, Document, IndexEntry, IndexVersion
from tools.models.corpora import DocumentStatus, EntryState, VersionState
from tools.pipelines.blocks.vectors.choose import chosen_store
from tools.pipelines.chunking import CHUNKING_REVISION
from tools.pipelines.contracts import BlockUnavailable
from tools.services.documents import CorpusFault
from tools.services.index_assembly import holds_what_is_there
from tools.services.index_entries import expected_part

logger = logging.getLogger(__name__)

UNFINISHED: Final = (VersionState.BUILDING, VersionState.READY)


def open_version(corpus: Corpus, *, force: bool) -> tuple[IndexVersion, bool]:
    """The version to work on, and whether it is new. No worker is told of it.

    One that is being built already is given back, and remembers that it was asked for again.

    Raises:
        CorpusFault: there is nothing to index, its store cannot be had, or everything is to be indexed anew
            (`force`) while a version is being built.
    """
    with transaction.atomic():
        corpus = Corpus.objects.select_for_update().get(pk=corpus.pk)
        wanted = _wanted(corpus)
        versions = IndexVersion.objects.filter(corpus=corpus)
        building = versions.filter(state=VersionState.BUILDING).first()
        if building is not None and force:
            raise CorpusFault(
                f"Index version {building.number} is being built; try again after it."
            )
        if building is not None and _ask_again(building):
            return building, False
        active = versions.filter(state=VersionState.ACTIVE).first()
        if active is None and not indexed_documents(corpus.pk).exists():
            raise CorpusFault(f"{corpus.slug} has no documents.")
        if active is not None and not force and _same(active, wanted):
            return active, False
        wanted.number = (versions.aggregate(Max("number"))["number__max"] or 0) + 1
        wanted.save()
        return wanted, True


def open_next(version_id: int) -> IndexVersion | None:
    """The version that follows one that has ended, if it was asked for and there is something for it.

    However often this is called and by whom, one follows. No worker is told of it.
    """
    with transaction.atomic():
        # The order in which everybody else takes them.
        corpora = Corpus.objects.select_for_update(of=("self",)).filter(versions__pk=version_id)
        corpora.values_list("pk").first()
        asked = IndexVersion.objects.filter(pk=version_id, asked_again=True)
        ended = asked.exclude(state__in=UNFINISHED).select_related("corpus").first()
        if ended is None:
            return None
        asked.update(asked_again=False)
        try:
            if _same(ended, _wanted(ended.corpus)):
                return None
            version, new = open_version(ended.corpus, force=False)
        except CorpusFault as fault:
            logger.warning("No index version follows %d: %s", ended.number, fault)
            return None
        return version if new else None


def ended_but_asked_for_again() -> QuerySet[IndexVersion]:
    """Versions that another may have to follow, which nobody has looked after yet."""
    return IndexVersion.objects.filter(asked_again=True).exclude(state__in=UNFINISHED)


def another_follows(corpus: Corpus, waiting: Mapping[int, int] | None = None) -> bool:
    """Whether the version that is being built is followed by another, with what it does not hold.

    `waiting` has how many documents a version does not hold, by its key, where that is known.
    """
    version = IndexVersion.objects.filter(corpus=corpus, asked_again=True).first()
    if version is None:
        return False
    made = {name: getattr(version, name) for name in ("embedding_model", "chunking")}
    if version.state not in UNFINISHED or made != _settings(corpus):
        return True
    known = (waiting or {}).get(version.pk)
    return (waiting_documents(version) if known is None else known) > 0


def waiting_documents(version: IndexVersion) -> int:
    """How many documents a version that is being built does not hold as they are now."""
    entries = IndexEntry.objects.filter(version=version)
    if not entries.exists():
        # All are about to be listed.
        return 0
    pending = entries.filter(state=EntryState.PENDING)
    unread = indexed_documents(version.corpus_id).filter(status=DocumentStatus.PENDING)
    missed = unread.exclude(Exists(pending.filter(document=OuterRef("pk")))).count()
    # Replaced while they are being read.
    columns = ("part", "document__media_type", "document__digest", "document__title")
    reading = pending.exclude(part="").values_list(*columns)
    replaced = [part for part, *now in reading if part != expected_part(version, *now)]
    return missed + len(replaced)


def version_after(version: IndexVersion) -> IndexVersion | None:
    """The one that was begun next, if there is one."""
    later = IndexVersion.objects.filter(corpus=version.corpus_id, number__gt=version.number)
    return later.order_by("number").first()


def indexed_documents(corpus_id: int) -> QuerySet[Document]:
    """What is indexed of a corpus: everything but duplicates."""
    rows = Document.objects.filter(corpus_id=corpus_id)
    return rows.exclude(status=DocumentStatus.DUPLICATE).order_by("pk")


def _wanted(corpus: Corpus) -> IndexVersion:
    """A version as it would be made now, not saved."""
    try:
        return IndexVersion(corpus=corpus, store=chosen_store(), **_settings(corpus))
    except BlockUnavailable as fault:
        raise CorpusFault(str(fault)) from fault


def _settings(corpus: Corpus) -> dict[str, Any]:
    return {
        "embedding_model": corpus.embedding_model,
        "chunking": {
            "tokens": corpus.chunk_tokens,
            "overlap": corpus.chunk_overlap,
            "revision": CHUNKING_REVISION,
        },
    }


def _same(version: IndexVersion, wanted: IndexVersion) -> bool:
    """Whether a version made now would be the same as one that is whole."""
    made = (version.embedding_model, version.chunking, version.store)
    if made != (wanted.embedding_model, wanted.chunking, wanted.store):
        return False
    return holds_what_is_there(version)


def _ask_again(building: IndexVersion) -> bool:
    """Let the version remember it; False if it is not being built any more."""
    rows = IndexVersion.objects.filter(pk=building.pk, state=VersionState.BUILDING)
    building.asked_again = bool(rows.update(asked_again=True))
    return building.asked_again
