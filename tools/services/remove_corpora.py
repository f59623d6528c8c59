"""Takes corpora out with all that belongs to them: rows first, files once the rows are gone for good."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.db import IntegrityError, connection, transaction

from tools.models import Corpus, PipelineConfig
from tools.services.documents import CorpusFault, lock_documents
from tools.services.index_switch import forget_corpus


def remove_corpora(corpora: Iterable[Corpus]) -> None:
    """Remove corpora with their documents and indexes: all of them or none.

    Raises:
        CorpusFault: a pipeline uses one of them, or something was added to one meanwhile.
    """
    # In one order always: two who remove the same ones must not wait for each other.
    ordered = sorted(corpora, key=lambda corpus: corpus.pk)
    with transaction.atomic():
        for corpus in ordered:
            _remove(corpus)


def _remove(corpus: Corpus) -> None:
    # With the row locked no pipeline can begin to use it.
    Corpus.objects.select_for_update().filter(pk=corpus.pk).values_list("pk").first()
    users = PipelineConfig.objects.filter(corpus=corpus)
    names = ", ".join(users.values_list("pipeline_name", flat=True))
    if names:
        raise CorpusFault(
            f"{corpus.slug} is used by {names}; let them use another corpus, or remove them."
        )
    lock_documents(corpus_id=corpus.pk)
    versions = list(corpus.versions.values_list("store", "pk"))
    number = corpus.pk
    try:
        corpus.delete()
        _nothing_left_behind()
    except IntegrityError as fault:
        raise CorpusFault(
            f"Something was added to {corpus.slug} while it was being deleted; delete it once more."
        ) from fault
    # Files do not come back with a transaction that is undone.
    transaction.on_commit(partial(forget_corpus, number, versions), robust=True)


def _nothing_left_behind() -> None:
    """Ask now what PostgreSQL would ask at the end of the transaction, which may be far from who can tell about it.

    A question for one of the corpus' sets, say, or an evaluation, may have come since its rows were looked for.
    With SQLite nobody else writes meanwhile, and the question would read every table.
    """
    if connection.vendor == "postgresql":
        connection.check_constraints()
