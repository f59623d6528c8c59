"""Switches a corpus to another index version in one step, and removes versions nobody needs."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from django.db import transaction

from tools.models import Corpus, IndexEntry, IndexVersion
from tools.models.audit import Action
from tools.models.corpora import VersionState
from tools.pipelines.blocks.vectors.choose import drop_store
from tools.pipelines.contracts import BlockUnavailable
from tools.pipelines.index import layout
from tools.selectors.specs import index_spec
from tools.services.announce_change import announce_change
from tools.services.audit.recording import record_action
from tools.services.audit.values import change
from tools.services.documents import CorpusFault

logger = logging.getLogger(__name__)

# A part that no version names may be about to be named by one.
KEEP_PARTS: Final = timedelta(hours=1)
LONGEST_ERROR: Final = 1000


class GateRefused(CorpusFault):
    """The version loses too much quality; the message says how much."""


def activate(version: IndexVersion, *, force: bool = False) -> None:
    """Let queries use this version from now on. The one in use before is kept for a roll-back.

    `force` switches to a version that the quality gate refused.

    Raises:
        GateRefused: the corpus' quality gate does not let it pass.
        CorpusFault: the version is not whole, or its files are gone.
    """
    version.refresh_from_db()
    if version.state == VersionState.ACTIVE:
        return
    if version.state in {VersionState.BUILDING, VersionState.FAILED}:
        raise CorpusFault(f"Version {version.number} is {version.state}; it cannot be used.")
    if not layout.version_folder(index_spec(version)["folder"]).is_dir():
        raise CorpusFault(f"The files of version {version.number} were removed; build a new one.")
    # One that was in use once has passed already.
    gated = version.state != VersionState.RETIRED and version.corpus.largest_loss is not None
    if gated and not force:
        _ask_gate(version)
    _switch(version)
    tidy(version.corpus)


def roll_back(corpus: Corpus) -> IndexVersion:
    """Go back to the version that was in use before the present one.

    Raises:
        CorpusFault: there is none.
    """
    previous = _previous(corpus)
    if previous is None:
        raise CorpusFault(f"{corpus.slug} has no earlier version to go back to.")
    activate(previous)
    return previous


def tidy(corpus: Corpus) -> None:
    """Remove the files of versions that are neither in use, nor about to be, nor the last before."""
    previous = _previous(corpus)
    active = corpus.versions.filter(state=VersionState.ACTIVE).first()
    ended = (VersionState.RETIRED, VersionState.REFUSED, VersionState.FAILED)
    for version in corpus.versions.filter(state__in=ended, statistics__removed__isnull=True):
        if version == previous:
            continue
        # An operator may still want the newest one in spite of the gate.
        if version.state == VersionState.REFUSED and active and version.number > active.number:
            continue
        remove_files(version)
    sweep_parts()


def remove_files(version: IndexVersion) -> None:
    """Remove what a version keeps on disk and in stores; its row stays, as history."""
    layout.remove_version(index_spec(version)["folder"])
    _drop(version.store, version.pk)
    IndexEntry.objects.filter(version=version).delete()
    version.statistics = {**version.statistics, "removed": True}
    version.save(update_fields=["statistics"])


def forget_corpus(corpus_id: int, versions: Iterable[tuple[str, int]]) -> None:
    """Remove what is left of a corpus whose rows are gone."""
    layout.remove_corpus(corpus_id)
    for store, version_id in versions:
        _drop(store, version_id)
    sweep_parts()


def sweep_parts(keep: timedelta = KEEP_PARTS) -> int:
    """Remove parts that no version names; how many."""
    removed = 0
    before = time.time() - keep.total_seconds()
    for folder in sorted(layout.parts_folder().glob("[0-9a-f][0-9a-f]")):
        named = set(
            IndexEntry.objects.filter(part__startswith=folder.name).values_list("part", flat=True)
        )
        for path in folder.iterdir():
            if path.stem not in named and _modified(path) < before:
                path.unlink(missing_ok=True)
                removed += 1
    return removed


def _ask_gate(version: IndexVersion) -> None:
    # It runs queries, and so needs all that queries need.
    from tools.services.evaluate import passes_gate

    reason = passes_gate(version)
    if reason:
        IndexVersion.objects.filter(pk=version.pk).update(
            state=VersionState.REFUSED, error=reason[:LONGEST_ERROR]
        )
        raise GateRefused(reason)


def _switch(version: IndexVersion) -> None:
    now = datetime.now(UTC)
    with transaction.atomic():
        Corpus.objects.select_for_update().filter(pk=version.corpus_id).values_list("pk").first()
        versions = IndexVersion.objects.filter(corpus=version.corpus_id)
        active = versions.filter(state=VersionState.ACTIVE)
        before = active.values_list("number", flat=True).first()
        active.update(state=VersionState.RETIRED)
        versions.filter(pk=version.pk).update(
            state=VersionState.ACTIVE, activated_at=now, touched_at=now, error=""
        )
        record_action(
            Action.SWITCHED,
            "tools.corpus",
            version.corpus.slug,
            object_id=version.corpus_id,
            changes={"index version": change(before, version.number)},
        )
        announce_change()
    version.refresh_from_db()


def _previous(corpus: Corpus) -> IndexVersion | None:
    retired = corpus.versions.filter(
        state=VersionState.RETIRED, statistics__removed__isnull=True, activated_at__isnull=False
    )
    return retired.order_by("-activated_at").first()


def _drop(store: str, version_id: int) -> None:
    try:
        drop_store(store, version_id)
    except BlockUnavailable as fault:
        logger.warning("Version %d stays in its store: %s", version_id, fault)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
