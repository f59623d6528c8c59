"""Takes corpora out with all that belongs to them: rows first, files once the rows are gone for good."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.db import transaction

from tools.models import Corpus, PipelineConfig
from tools.services.documents import CorpusFault, lock_documents
from tools.services.index_switch import forget_corpus


def remove_corpora(corpora: Iterable[Corpus]) -> None:
    """Remove corpora with their documents and indexes: all of them or none.

    Raises:
        CorpusFault: a pipeline uses one of them.
    """
    with transaction.atomic():
        for corpus in corpora:
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
    corpus.delete()
    # Files do not come back with a transaction that is undone.
    transaction.on_commit(partial(forget_corpus, number, versions), robust=True)
