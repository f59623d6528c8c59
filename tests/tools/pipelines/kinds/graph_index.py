"""A small index with everything in it, for tests of the techniques that use its graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tools.pipelines.blocks.embedder import GRANITE
from tools.pipelines.contracts import IndexSpec, OpenIndex
from tools.pipelines.index.assemble import Member, Plan, assemble
from tools.pipelines.index.open import open_index
from tools.pipelines.index.parts import PartSettings, Source, made_part

SETTINGS = PartSettings(embedding_model=GRANITE, chunk_tokens=256, chunk_overlap=0)

# A chain (composer, opera, town, river, mountain) among articles on lighthouses and on bread. Only the
# first names the composer; what is asked about her stands further on.
ARTICLES = (
    ("Marla Quist", "Marla Quist was a composer. Her best-known work is the opera Silver Harbour."),
    ("Silver Harbour", "Silver Harbour has three acts. Its first performance was given in Tavrin."),
    ("Tavrin", "Tavrin has mills, a market and four gates. The Osk flows through it."),
    ("Osk", "The Osk springs on Mount Helva and freezes in most years."),
    ("Mount Helva", "Mount Helva is made of slate. Snow lies there until early summer."),
    (
        "Lighthouse lamps",
        "A lighthouse lamp burns oil or gas, and its lens throws the light far out to sea.",
    ),
    (
        "Lighthouse keepers",
        "A lighthouse keeper trims the wick, winds the clockwork and logs passing ships.",
    ),
    (
        "Lighthouse towers",
        "A lighthouse tower of granite blocks withstands waves that would break timber.",
    ),
    (
        "Fog signals",
        "When fog hides the lamp, a lighthouse sounds a horn so that ships keep off the rocks.",
    ),
    (
        "Sourdough",
        "Sourdough bread rises with wild yeast. The dough rests overnight before baking.",
    ),
    (
        "Rye bread",
        "Rye bread is dense and keeps for weeks. Its dough is baked slowly in a falling oven.",
    ),
    ("Flour", "Strong flour has more gluten, which gives bread dough its stretch before baking."),
    (
        "Ovens",
        "A bread oven holds its heat in brick, so that loaves of dough brown evenly while baking.",
    ),
    (
        "Operas of the coast",
        "Many operas were written for small stages. Few composers became known by them.",
    ),
    (
        "Composers and towns",
        "A composer often wrote for one town. First performances drew large crowds.",
    ),
)


def graph_index(version: int, articles: Sequence[tuple[str, str]] = ARTICLES) -> OpenIndex:
    """The index of these articles, one document each, as a worker opens it."""
    members = []
    for number, (title, text) in enumerate(articles):
        content = text.encode()
        digest = hashlib.sha256(content).hexdigest()
        part = made_part(SETTINGS, Source(f"{number}.txt", "text/plain", digest, title, content))
        members.append(Member(f"{number}.txt", part.key, len(part), {"source": f"{number}.txt"}))
    spec = IndexSpec(version, "graph-tests", version, GRANITE, f"graph-tests/{version}")
    assemble(Plan(spec, members, {}, f"graph-tests {version}"), lambda: None)
    return open_index(spec)
