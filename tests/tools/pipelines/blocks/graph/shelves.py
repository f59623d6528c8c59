"""Small collections with known ties, for tests of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tools.pipelines.blocks.graph import build_graph, open_graph
from tools.pipelines.blocks.graph.walk import MappedGraph
from tools.pipelines.contracts import Found, IndexSource, Matrix, Passage
from tools.pipelines.sentences import split_sentences

# Each passage names the next one's title and nothing further on.
CHAIN = (
    (
        "Marla Quist",
        "Marla Quist was a composer. She wrote the opera Silver Harbour in a hard winter.",
    ),
    (
        "Silver Harbour",
        "Silver Harbour has three acts. It was first staged in Tavrin, to great applause.",
    ),
    (
        "Tavrin",
        "Tavrin is a town of mills and bridges. The Osk flows through it from north to south.",
    ),
    ("Osk", "The Osk is a river. It springs on Mount Helva and is too shallow for ships."),
    ("Mount Helva", "Mount Helva is the highest of the range. Snow lies there until early summer."),
    ("Bread", "Bread is baked from flour, water and salt. The dough must rest overnight."),
    ("Chess", "Chess is played on a board of sixty-four squares by two people."),
)


def shelf(articles: Sequence[tuple[str, str]], vectors: Matrix | None = None) -> IndexSource:
    """Passages with these titles and texts; without vectors, none is near any other."""
    passages = [
        Passage(row, f"p{row}", f"d{row}", text, title, {"source": f"{row}.txt"})
        for row, (title, text) in enumerate(articles)
    ]
    sentences = [[text[start:end] for start, end in split_sentences(text)] for _, text in articles]
    if vectors is None:
        vectors = np.eye(max(len(passages), 1), dtype=np.float32)[: len(passages)]
    return IndexSource(passages, vectors, sentences)


def only(*rows: int) -> Found:
    """A walk that starts at these rows, in equal parts."""
    return Found(np.array(rows, np.int64), np.ones(len(rows), np.float32))


def graph(folder: Path, articles: Sequence[tuple[str, str]]) -> MappedGraph:
    """The graph of these articles, written to a folder and opened from there."""
    build_graph(folder, shelf(articles))
    return open_graph(folder)


def reached(
    found: MappedGraph, seeds: Found, *, depth: int, query: str = "", count: int = 100
) -> set[int]:
    return set(found.walk(query, seeds, depth=depth, count=count).found.rows.tolist())
