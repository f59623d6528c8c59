"""Groups of passages, coarse to fine, each with a title, a summary and its central passages.

Passages are tied by meaning and by what they name, and groups are split out of that graph, level by
level: a group of one level lies within one group of the level before. Above LARGEST passages an even
sample is grouped, and every other passage joins the group whose centre is nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from tools.pipelines.blocks.fusion import best
from tools.pipelines.blocks.graph.hierarchy import find_levels, mean_vectors
from tools.pipelines.blocks.graph.links import Links, find_links
from tools.pipelines.blocks.graph.neighbours import tie
from tools.pipelines.blocks.graph.packed import pack, unpack
from tools.pipelines.blocks.graph.partition import Labels
from tools.pipelines.blocks.graph.summaries import Summarizer, fallback_title, titles
from tools.pipelines.contracts import Community, IndexSource, Matrix

LARGEST: Final = 20_000
# The central passages that are kept of a group.
CENTRAL_ROWS: Final = 100
_BLOCK: Final = 4096
_ARRAYS: Final = ("centres", "records", "record_starts", "level_groups", "level_starts")


def build_communities(folder: Path, source: IndexSource) -> None:
    """Write the groups of these passages into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    count = len(source.passages)
    sample = np.unique(np.linspace(0, count - 1, min(count, LARGEST)).astype(np.int64))
    vectors = np.asarray(source.vectors, np.float32)
    links = find_links([source.passages[row] for row in sample.tolist()])
    sampled = find_levels(tie(vectors[sample], links.passage, links.entity), vectors[sample])
    built = _Groups(source, vectors, links)
    for labels, everyone in zip(sampled, _everyone(sampled, sample, vectors), strict=True):
        built.add_level(labels, everyone)
    for name, values in zip(_ARRAYS, built.arrays(), strict=True):
        np.save(folder / f"{name}.npy", values)


def _everyone(sampled: Sequence[Labels], sample: Labels, vectors: Matrix) -> list[Labels]:
    """The levels of all passages, from those of the sample."""
    if len(sample) == len(vectors):
        return list(sampled)
    finest = sampled[-1]
    centres = mean_vectors(vectors[sample], finest)
    nearest = np.empty(len(vectors), np.int64)
    for begin in range(0, len(vectors), _BLOCK):
        fits = vectors[begin : begin + _BLOCK] @ centres.T
        nearest[begin : begin + _BLOCK] = np.argmax(fits, axis=1)
    nearest[sample] = finest
    levels = []
    for labels in sampled:
        above = np.zeros(len(centres), np.int64)
        above[finest] = labels
        levels.append(above[nearest])
    return levels


class _Groups:
    """The groups of an index under construction. One that a level leaves whole is there once."""

    def __init__(self, source: IndexSource, vectors: Matrix, links: Links) -> None:
        self._source = source
        self._vectors = vectors
        self._links = links
        self._summarizer = Summarizer(source)
        self._found: list[Community] = []
        self._centres: list[Matrix] = []
        self._levels: list[list[int]] = []
        self._number_of = np.full(len(vectors), -1)

    def add_level(self, sampled: Labels, everyone: Labels) -> None:
        """Add the groups of a level, given for the sample and for all passages."""
        level = len(self._levels)
        centres = mean_vectors(self._vectors, everyone)
        names = titles(self._links, sampled, len(centres))
        order = np.argsort(everyone, kind="stable")
        bounds = np.searchsorted(everyone[order], np.arange(len(centres) + 1))
        self._levels.append([])
        for place, centre in enumerate(centres):
            rows = order[bounds[place] : bounds[place + 1]]
            number = int(self._number_of[rows[0]])
            if number < 0 or self._found[number].size != len(rows):
                number = len(self._found)
                self._add(f"{level}.{place}", level, names[place], rows, centre)
            self._levels[-1].append(number)
            self._number_of[rows] = number

    def _add(self, name: str, level: int, names: list[str], rows: Labels, centre: Matrix) -> None:
        central = best(rows, self._vectors[rows] @ centre, CENTRAL_ROWS).rows.tolist()
        summary = self._summarizer.summarize(central)
        title = ", ".join(names) or fallback_title(self._source, central)
        text = "\n".join(summary.sentences)
        self._found.append(
            Community(name, level, title, text, len(rows), tuple(central), summary.rows)
        )
        self._centres.append(centre)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What is stored, in the order of its names."""
        records, starts = pack(orjson.dumps(asdict(one)).decode() for one in self._found)
        width = self._vectors.shape[1] if self._vectors.ndim == 2 else 0
        centres = np.array(self._centres, np.float32).reshape(len(self._found), width)
        groups = np.array([number for level in self._levels for number in level], np.int64)
        sizes = np.array([len(level) for level in self._levels], np.int64)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        return centres, records, starts, groups, ends


def open_communities(folder: Path) -> MappedCommunities:
    """The groups that `build_communities` wrote, mapped."""
    return MappedCommunities(
        *(np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in _ARRAYS)
    )


class MappedCommunities:
    """See `Communities` for what it promises."""

    def __init__(
        self,
        centres: Matrix,
        records: NDArray[np.uint8],
        record_starts: NDArray[np.int64],
        level_groups: NDArray[np.int64],
        level_starts: NDArray[np.int64],
    ) -> None:
        self._centres = centres
        self._records = records
        self._record_starts = record_starts
        self._level_groups = level_groups
        self._level_starts = level_starts

    @property
    def levels(self) -> int:
        return len(self._level_starts) - 1

    def search(self, vector: Matrix, level: int, count: int) -> list[tuple[Community, float]]:
        """See `Communities`; the score is the cosine with the group's centre."""
        if not self.levels:
            return []
        used = min(level, self.levels - 1)
        groups = self._level_groups[self._level_starts[used] : self._level_starts[used + 1]]
        found = best(groups, self._centres[groups] @ np.ravel(vector), count)
        return [
            (replace(self._read(number), level=used), score)
            for number, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True)
        ]

    def _read(self, number: int) -> Community:
        kept = orjson.loads(unpack(self._records, self._record_starts, number))
        rows, summary_rows = tuple(kept.pop("rows")), tuple(kept.pop("summary_rows"))
        return Community(**kept, rows=rows, summary_rows=summary_rows)
