"""Which passages name which entities, and what each link is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.graph.entities import (
    TITLE,
    Entities,
    find_entities,
    find_mentions,
    texts_of,
)
from tools.pipelines.blocks.graph.tokens import tokenize
from tools.pipelines.contracts import Passage

# What a link is worth by the kind of its entity: rare word, phrase, name, title.
KIND_WORTH: Final = (0.1, 0.25, 1.0, 1.0)
# What more than this share of the passages name connects everything with everything: it has no links.
# The bounds are numbers of passages; the upper one keeps walks short in large indexes.
COMMON_SHARE: Final = 0.02
COMMON_BOUNDS: Final = (20, 500)


@dataclass(frozen=True, slots=True)
class Links:
    """Pairs of a passage and an entity it names, ordered by passage, then entity.

    `about` says that the entity is the passage's title. `worth` is per entity, not per link: the fewer
    passages name it, the more.
    """

    entities: Entities
    passage: NDArray[np.int64]
    entity: NDArray[np.int64]
    about: NDArray[np.bool_]
    worth: NDArray[np.float64]


def find_links(passages: Sequence[Passage]) -> Links:
    """The links of these passages, numbered as they come."""
    texts = texts_of(passages)
    tokens = tokenize(texts)
    entities = find_entities(texts, tokens)
    mentions = find_mentions(tokens, entities.keys, entities.cased)
    # A divisor that is there even when nothing is named.
    count = max(len(entities), 1)
    text = tokens.text[mentions.place].astype(np.int64)
    pairs, where = np.unique((text // 2) * count + mentions.entity, return_inverse=True)
    about = np.zeros(len(pairs), bool)
    about[where[(text % 2 == 0) & (entities.kinds[mentions.entity] == TITLE)]] = True
    passage, entity = pairs // count, pairs % count
    named_in = np.bincount(entity, minlength=len(entities))
    kept = (named_in <= np.clip(COMMON_SHARE * len(passages), *COMMON_BOUNDS))[entity]
    rarity = np.log1p(len(passages) / np.maximum(named_in, 1))
    worth = np.array(KIND_WORTH)[entities.kinds] * rarity
    return Links(entities, passage[kept], entity[kept], about[kept], worth)
