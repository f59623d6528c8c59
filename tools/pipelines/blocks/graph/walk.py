"""Walks over the entity graph: personalised PageRank, cut off after so many steps.

A step goes from passages to what they name and on to the passages that name it. Only the places that a
walk reaches are touched, and of those only the strongest are left again, so that a walk costs about the
same in a large index as in a small one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.fusion import best
from tools.pipelines.blocks.graph.entities import (
    NAME,
    Mentions,
    count_unknown_names,
    find_mentions,
)
from tools.pipelines.blocks.graph.packed import unpack
from tools.pipelines.blocks.graph.tokens import Tokens, tokenize
from tools.pipelines.contracts import Found, Matrix, Rows, Walk

# The share of what arrives at a passage that goes on to its neighbours.
DAMPING: Final = 0.7
# What a walk starts with: on the seed passages, and on the entities that the query names.
SEED_PASSAGES: Final = 0.7
SEED_ENTITIES: Final = 0.3
# The most passages and entities that a step leaves from.
WIDEST_PASSAGES: Final = 300
WIDEST_ENTITIES: Final = 1000

_ARRAYS: Final = (
    "passage_starts",
    "passage_entities",
    "passage_shares",
    "entity_starts",
    "entity_passages",
    "entity_shares",
    "entity_keys",
    "entity_kinds",
    "entity_cased",
    "entity_worth",
    "name_starts",
    "name_bytes",
)


def open_graph(folder: Path) -> MappedGraph:
    """The graph that `build_graph` wrote, mapped."""
    return MappedGraph({name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS})


class MappedGraph:
    """See `EntityGraph` for what it promises."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        # Plain arrays over the same mapped memory: their subclass costs more than the look-ups.
        self._of = {name: np.asarray(values) for name, values in arrays.items()}
        self._passages = len(self._of["passage_starts"]) - 1
        self._entities = len(self._of["entity_keys"])

    def walk(self, query: str, seeds: Found, *, depth: int, count: int) -> Walk:
        """See `EntityGraph`. The scores of the seeds say how much of the walk starts at each.

        Phrases and rare words of the query are started from as well; `query_entities` has its names.
        """
        asked = self._linked(self._mentions(query)[1].entity)
        named = _part_of(self._of["entity_worth"][asked], SEED_ENTITIES)
        rows, mass = seeds.rows, _part_of(seeds.scores, SEED_PASSAGES)
        total = np.zeros(self._passages, np.float32)
        total[rows] += mass
        reached = np.zeros(self._entities, bool)
        arrived = np.zeros(self._entities, np.float32)
        arrived[asked] = named
        for _ in range(depth):
            self._spread("passage", rows, mass, arrived)
            entities, through = _strongest(arrived, WIDEST_ENTITIES)
            reached[entities] = True
            onto = np.zeros(self._passages, np.float32)
            self._spread("entity", entities, through * np.float32(DAMPING), onto)
            total += onto
            rows, mass = _strongest(onto, WIDEST_PASSAGES)
            arrived = np.zeros(self._entities, np.float32)
        hit = np.flatnonzero(total)
        names = self.names(asked[self._of["entity_kinds"][asked] >= NAME].tolist())
        return Walk(best(hit, total[hit], count), tuple(names), int(reached.sum()))

    def coverage(self, query: str, rows: Rows) -> float | None:
        """See `EntityGraph`. Names count if there are any, else phrases and rare words.

        A name that no passage has counts as one that these do not have.
        """
        tokens, mentions = self._mentions(query)
        asked = self._linked(mentions.entity)
        unknown = count_unknown_names(tokens, mentions)
        names = asked[self._of["entity_kinds"][asked] >= NAME]
        if len(names) or unknown:
            asked = names
        if not len(asked) + unknown:
            return None
        starts, entities = self._of["passage_starts"], self._of["passage_entities"]
        spans = [entities[starts[row] : starts[row + 1]] for row in rows.tolist()]
        present = np.isin(asked, np.concatenate(spans)) if spans else np.zeros(len(asked), bool)
        return float(present.sum() / (len(asked) + unknown))

    def names(self, entities: Iterable[int]) -> list[str]:
        """These entities as they are written."""
        starts, content = self._of["name_starts"], self._of["name_bytes"]
        return [unpack(content, starts, entity) for entity in entities]

    def _mentions(self, query: str) -> tuple[Tokens, Mentions]:
        # A title without words in front: what is asked is read as a passage's text is.
        tokens = tokenize(["", query])
        # Where nothing has a capital, a small letter does not mean that no name is meant.
        cased = bool((tokens.capital & ~tokens.opens & ~tokens.stop).any())
        only = self._of["entity_cased"] if cased else np.zeros(self._entities, bool)
        return tokens, find_mentions(tokens, self._of["entity_keys"], only)

    def _linked(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each of these entities once, without those that too many passages name."""
        once = np.unique(entities)
        starts = self._of["entity_starts"]
        return once[starts[once + 1] > starts[once]]

    def _spread(self, side: str, places: Rows, mass: Matrix, onto: Matrix) -> None:
        """Send the mass of these places over their links and add what arrives to `onto`."""
        targets = self._of["passage_entities" if side == "passage" else "entity_passages"]
        starts, shares = self._of[f"{side}_starts"], self._of[f"{side}_shares"]
        begin = starts[places]
        sizes = starts[places + 1] - begin
        ahead = np.cumsum(sizes) - sizes
        links = np.repeat(begin - ahead, sizes) + np.arange(int(sizes.sum()))
        np.add.at(onto, targets[links], shares[links] * np.repeat(mass, sizes))


def _part_of(scores: Matrix, whole: float) -> Matrix:
    """The scores scaled to this sum."""
    total = float(scores.sum())
    return scores * np.float32(whole / total) if total > 0 else scores


def _strongest(mass: Matrix, count: int) -> tuple[Rows, Matrix]:
    places = np.flatnonzero(mass)
    found = best(places, mass[places], count)
    return found.rows, found.scores
