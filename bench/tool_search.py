"""How good and how fast the search for tools is, and what it saves an agent.

Run with `python -m bench.tool_search`. Recall is over the labelled needs of the test suite; times
are of one process with the model on one thread.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import uvloop


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cp-bench-") as folder:
        os.environ["VAR_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
        began = time.perf_counter()
        from tools.pipelines.blocks.embedder import default_embedder

        default_embedder()
        print(f"model built and loaded in {time.perf_counter() - began:.1f} s")
        quality()
        for number in (5, 100, 500):
            uvloop.run(speed(number, Path(folder) / f"{number}.sqlite3"))
        cost()


def quality() -> None:
    """Recall of the three ways to compare."""
    from tests.tools.backends.tool_search.needs import NEEDS
    from tests.tools.backends.tool_search.shelf import SHELF
    from tools.backends.tool_search.meaning import tool_vectors
    from tools.backends.tool_search.ranking import MEANING_SHARE, ranked
    from tools.backends.tool_search.texts import tool_text
    from tools.backends.tool_search.words import WordIndex
    from tools.pipelines.blocks.embedder import default_embedder

    embedder, texts = default_embedder(), [tool_text(spec) for spec in SHELF]
    index, vectors = WordIndex(texts), tool_vectors(embedder, texts)
    queries = embedder.embed([query for query, _ in NEEDS])
    print(f"{len(NEEDS)} needs over {len(SHELF)} tools")
    for label, share in (("words", 0.0), ("meaning", 1.0), ("blend", MEANING_SHARE)):
        ranks = []
        for row, (query, fitting) in enumerate(NEEDS):
            near = [float(mark) for mark in vectors @ queries[row]] if share else None
            order = ranked(query, texts, index.marks(query), near, share)
            places = [place for place, match in enumerate(order, 1) if match.spec.name in fitting]
            ranks.append(min(places, default=10**6))
        print(f"  {label:8} {_recalls(ranks)}")


def _recalls(ranks: Sequence[int]) -> str:
    shares = (f"recall@{k} {sum(r <= k for r in ranks) / len(ranks):.3f}" for k in (1, 3, 5, 10))
    return ", ".join(shares)


async def speed(number: int, kept: Path) -> None:
    """The first search, which embeds the tools, and those after it."""
    from tests.tools.backends.tool_search.needs import NEEDS
    from tests.tools.backends.tool_search.shelf import SHELF
    from tools.backends.tool_search.finder import Finder
    from tools.backends.tool_search.ranking import BOTH
    from tools.pipelines.blocks.embedder import default_embedder

    specs = [
        replace(SHELF[n % len(SHELF)], name=f"{SHELF[n % len(SHELF)].name}_{n}")
        for n in range(number)
    ]

    async def first() -> tuple[Finder, float]:
        finder, began = Finder(default_embedder, lambda: kept, patience=600), time.perf_counter()
        assert (await finder.find("warm up", specs)).matching == BOTH
        return finder, time.perf_counter() - began

    _, embedding = await first()
    finder, restart = await first()
    took = []
    for query, _ in NEEDS:
        began = time.perf_counter()
        await finder.find(query, specs)
        took.append((time.perf_counter() - began) * 1000)
    deciles = statistics.quantiles(took, n=20)
    print(
        f"{number} tools: embedded in {embedding:.1f} s, from disk {restart * 1000:.0f} ms, "
        f"search p50 {deciles[9]:.1f} ms, p95 {deciles[18]:.1f} ms"
    )


def cost() -> None:
    """Tokens of five hundred listed tools beside the two that lead to them."""
    import django

    django.setup()
    from tests.tools.backends.tool_search.shelf import SHELF
    from tools.backends.builtin import BUILTINS
    from tools.context.tokens import count_json

    everything = [SHELF[number % len(SHELF)].to_http() for number in range(500)]
    ways = [
        {
            "name": name,
            "description": BUILTINS[name].description,
            "input_schema": BUILTINS[name].input_schema,
        }
        for name in ("tool_search", "call_tool")
    ]
    print(f"tokens: 500 tools {count_json(everything)}, the two ways {count_json(ways)}")


if __name__ == "__main__":
    main()
