"""How retrieval grows with the index, and how fast documents become passages.

Run with `python -m bench.retrieval`. Passages are synthetic: words by Zipf's law, vectors in clusters,
as many as `--sizes` says. Ingest is measured on this project's own documentation, on one core.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.synthetic import DIMENSIONS, Synthetic

SIZES: Final = (1_000, 3_000, 10_000, 30_000, 100_000)
QUERIES: Final = 200
TARGET_MS: Final = 50.0
DOCUMENTS: Final = Path(__file__).resolve().parents[1] / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--no-ingest", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as folder:
        os.environ["VAR_DIR"] = folder
        os.environ["RAG_STORE"] = "files"
        os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
        _growth(Path(folder), options.sizes, options.queries)
        if not options.no_ingest:
            _ingest()


def _growth(folder: Path, sizes: list[int], count: int) -> None:
    print(
        "passages   build s   dense ms: p50, p95, cpu   lexical: the same   hybrid: the same   MiB"
    )
    for size in sizes:
        told, within = _at_size(folder / str(size), size, count)
        print(told + ("" if within else f"   above the target of {TARGET_MS:.0f} ms"), flush=True)


def _at_size(folder: Path, size: int, count: int) -> tuple[str, bool]:
    from tools.pipelines.blocks.fusion import convex
    from tools.pipelines.blocks.lexical import build_lexical, open_lexical
    from tools.pipelines.blocks.vectors import ann, exact

    folder.mkdir()
    made = Synthetic(size)
    began = time.perf_counter()
    np.save(folder / exact.VECTORS, made.vectors)
    build_lexical(folder / "lexical", made.source())
    if size > ann.SMALLEST:
        ann.build_ann(folder, made.vectors)
    seconds = time.perf_counter() - began
    dense = ann.open_ann(folder) if size > ann.SMALLEST else exact.open_exact(folder)
    words = open_lexical(folder / "lexical")
    questions = made.questions(count)
    ways: dict[str, Callable[[Any], Any]] = {
        "dense": lambda one: dense.search(one.vector, 100),
        "lexical": lambda one: words.search(one.text, 100),
        "hybrid": lambda one: convex(
            [(dense.search(one.vector, 100), 0.7), (words.search(one.text, 100), 0.3)], 10
        ),
    }
    figures = {name: _times(search, questions) for name, search in ways.items()}
    columns = "   ".join(f"{p50:7.2f} {p95:7.2f} {cpu:7.2f}" for p50, p95, cpu in figures.values())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{size:8}   {seconds:7.1f}   {columns}   {memory:5.0f}", figures["hybrid"][
        1
    ] < TARGET_MS


def _times(search: Callable[[Any], Any], questions: list[Any]) -> tuple[float, float, float]:
    """Median and 95th percentile of the time a query takes, and the mean of its processor time."""
    # The first ones bring the files into memory.
    for question in questions[:10]:
        search(question)
    times = []
    busy = time.process_time()
    for question in questions:
        began = time.perf_counter()
        search(question)
        times.append((time.perf_counter() - began) * 1000)
    busy = (time.process_time() - busy) * 1000 / len(questions)
    return statistics.median(times), statistics.quantiles(times, n=20)[18], busy


def _ingest() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from tools.services import corpora, ingest_files

    files = [
        (path.relative_to(DOCUMENTS).as_posix(), path) for path in sorted(DOCUMENTS.rglob("*.md"))
    ]
    corpus = ingest_files.open_corpus("bench", create=True)
    list(ingest_files.add_files(corpus, files[:1]))
    corpora.build_index(corpus)  # loads the models
    list(ingest_files.add_files(corpus, files))
    before, began = time.process_time(), time.perf_counter()
    version = corpora.build_index(corpus)
    busy, seconds = time.process_time() - before, time.perf_counter() - began
    print(
        f"ingest: {version.done_documents} documents, {version.chunks} passages of {DIMENSIONS} "
        f"dimensions in {seconds:.1f} s; {version.chunks / busy:.1f} passages per second and core"
    )
    before, began = time.process_time(), time.perf_counter()
    version = corpora.build_index(corpus, force=True)
    print(
        f"again, unchanged: {time.perf_counter() - began:.1f} s, of which putting together "
        f"{version.statistics['seconds']['all']:.1f} s"
    )


if __name__ == "__main__":
    main()
