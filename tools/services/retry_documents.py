"""Documents that could not be read, tried again with a new index version."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from tools.models import Corpus, Document, IndexVersion
from tools.models.corpora import DocumentStatus, VersionState
from tools.services.documents import CorpusFault
from tools.services.index_opening import open_version
from tools.services.index_workers import index_workers


def retry_documents(corpus: Corpus, documents: Iterable[int] | None = None) -> IndexVersion:
    """Begin a version in which the failed documents of a corpus, or those named of them, are read again.

    What was made of the other documents is used as it is.

    Raises:
        CorpusFault: none of them has failed, a version is being built, or none can be.
    """
    with transaction.atomic():
        Corpus.objects.select_for_update().filter(pk=corpus.pk).values_list("pk").first()
        building = IndexVersion.objects.filter(corpus=corpus, state=VersionState.BUILDING).first()
        if building is not None:
            raise CorpusFault(
                f"Version {building.number} of {corpus.slug} is being built; try again after that."
            )
        failed = Document.objects.filter(corpus=corpus, status=DocumentStatus.FAILED)
        if documents is not None:
            failed = failed.filter(pk__in=list(documents))
        if not failed.update(status=DocumentStatus.PENDING, error=""):
            raise CorpusFault(f"No document of {corpus.slug} has failed.")
        # Together: where no version can be begun, the documents keep their errors.
        version, _ = open_version(corpus, force=True)
    index_workers.plan(version.pk)
    return version
