"""Writes the entity graph of a version: arrays that every process of a host maps and shares."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.graph.links import Links, find_links
from tools.pipelines.blocks.graph.packed import pack
from tools.pipelines.contracts import IndexSource

# What an entity gives to a passage that is about it (its title), beside one that only names it.
TITLE_SHARE: Final = 4.0


def build_graph(folder: Path, source: IndexSource) -> None:
    """Write the graph of these passages into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    links = find_links(source.passages)
    names, starts = pack(" ".join(name.split()) for name in links.entities.names)
    arrays = _sides(links, len(source.passages)) | {"name_bytes": names, "name_starts": starts}
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)


def _sides(links: Links, passages: int) -> dict[str, NDArray[Any]]:
    """The links from either side, as shares of what each passage or entity gives."""
    count = len(links.entities)
    by_entity = np.lexsort((links.passage, links.entity))
    gives = np.where(links.about, TITLE_SHARE, 1.0)[by_entity]
    return {
        "passage_starts": _starts(links.passage, passages),
        "passage_entities": links.entity.astype(np.int32),
        "passage_shares": _shares(links.passage, links.worth[links.entity], passages),
        "entity_starts": _starts(links.entity, count),
        "entity_passages": links.passage[by_entity].astype(np.int32),
        "entity_shares": _shares(links.entity[by_entity], gives, count),
        "entity_keys": links.entities.keys,
        "entity_kinds": links.entities.kinds,
        "entity_cased": links.entities.cased,
        "entity_worth": links.worth.astype(np.float32),
    }


def _starts(owner: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Where the links of each owner begin; one more entry says where the last ones end."""
    sizes = np.bincount(owner, minlength=count)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _shares(
    owner: NDArray[np.int64], worth: NDArray[np.float64], count: int
) -> NDArray[np.float32]:
    """Each worth as its share of what the owner has in all."""
    total = np.bincount(owner, weights=worth, minlength=count)
    return (worth / total[owner]).astype(np.float32)
