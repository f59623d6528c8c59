"""Index versions built by real workers, some of which die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.indexes import corpus_of_texts, index_dir, nearest, opened
from tests.processes import wait_until
from tests.workers import Worker, celery_worker
from tools.models import Corpus, IndexEntry, IndexVersion
from tools.pipelines.index import layout
from tools.services.corpora import resume_indexes, start_index

__all__ = ["index_dir"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("redis_url", "index_dir"),
]

BUILD_SECONDS = 120


@contextmanager
def worker(log: Path, index_dir: Path, concurrency: int = 2) -> Iterator[Worker]:
    with celery_worker(log, concurrency, ("ingest",), INDEX_DIR=str(index_dir)) as started:
        yield started


def built(version: IndexVersion) -> bool:
    version.refresh_from_db()
    return version.state not in {"building", "ready"}


def corpus_of(count: int) -> Corpus:
    """So large that the documents do not share one task."""
    filler = "The weather is fine. " * 100
    return corpus_of_texts(
        texts={f"{number:02}.txt": f"Story {number}. {filler}" for number in range(count)}
    )


def test_workers_build_and_switch(index_dir: Path, tmp_path: Path) -> None:
    corpus = corpus_of_texts()
    with worker(tmp_path / "worker.log", index_dir):
        version = start_index(corpus)
        assert start_index(corpus) == version
        wait_until(lambda: built(version), BUILD_SECONDS, "a built version")
    assert (version.state, version.total_documents, version.done_documents) == ("active", 3, 3)
    assert nearest(opened(version), "when do the birds return?") == "birds.txt"


def test_build_goes_on_after_its_worker_was_killed(index_dir: Path, tmp_path: Path) -> None:
    corpus = corpus_of(16)
    with worker(tmp_path / "first.log", index_dir, concurrency=1) as first:
        version = start_index(corpus)
        done = IndexEntry.objects.filter(version=version, state="done")
        wait_until(lambda: done.count() >= 2, BUILD_SECONDS, "the first documents")
        first.kill()
    version.refresh_from_db()
    assert version.state == "building"
    kept = {path: path.stat().st_mtime_ns for path in layout.parts_folder().rglob("*.npz")}
    with worker(tmp_path / "second.log", index_dir):
        assert resume_indexes(datetime.now(UTC)) == 0
        assert resume_indexes(datetime.now(UTC) + timedelta(minutes=5)) == 1
        wait_until(lambda: built(version), BUILD_SECONDS, "a built version")
    assert (version.state, version.done_documents, version.failed_documents) == ("active", 16, 0)
    assert version.chunks == sum(version.entries.values_list("chunks", flat=True))
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_killed_child_costs_no_document(index_dir: Path, tmp_path: Path) -> None:
    corpus = corpus_of(6)
    with worker(tmp_path / "worker.log", index_dir, concurrency=1) as started:
        version = start_index(corpus)
        busy = IndexEntry.objects.filter(version=version, attempts__gte=1)
        wait_until(busy.exists, BUILD_SECONDS, "a document being read")
        os.kill(started.children()[0], signal.SIGKILL)
        wait_until(lambda: built(version), BUILD_SECONDS, "a built version")
    assert (version.state, version.done_documents, version.failed_documents) == ("active", 6, 0)


@pytest.mark.on_database("sqlite")
def test_build_nobody_heard_of_waits_for_workers(index_dir: Path, tmp_path: Path) -> None:
    corpus = corpus_of_texts()
    version = start_index(corpus)
    version.refresh_from_db()
    assert (version.state, version.entries.count()) == ("building", 0)
    with worker(tmp_path / "worker.log", index_dir):
        wait_until(lambda: built(version), BUILD_SECONDS, "a built version")
    assert version.state == "active"
