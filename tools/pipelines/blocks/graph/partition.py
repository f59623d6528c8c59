"""Splits a weighted graph into groups that hold together: modularity, climbed as Louvain does.

Half of the nodes choose at once, by array, instead of one after the other, which large graphs need to
be done in time; the groups are nearly as good. Nothing is random: the same graph gives the same groups.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.graph.neighbours import Ties, summed

Labels = NDArray[np.int64]

MOST_ROUNDS: Final = 30
MOST_MERGES: Final = 10


def split(ties: Ties, within: Labels, resolution: float) -> Labels:
    """Groups of the nodes, numbered from 0, none of which crosses the groups `within`."""
    inside = within[ties.source] == within[ties.target]
    graph = Ties(ties.source[inside], ties.target[inside], ties.weight[inside])
    groups = np.arange(len(within))
    parents = within
    for _ in range(MOST_MERGES):
        labels = _moved(graph, parents, resolution)
        known, labels = np.unique(labels, return_inverse=True)
        groups = labels[groups]
        if len(known) == len(parents):
            break
        above = np.zeros(len(known), np.int64)
        above[labels] = parents
        graph, parents = _merged(graph, labels, len(known)), above
    return groups


def _moved(graph: Ties, parents: Labels, resolution: float) -> Labels:
    """Every node in the group of the neighbours it is tied to most, beyond what chance would give."""
    count = len(parents)
    labels = np.arange(count)
    degree = summed(graph.source, graph.weight, count)
    total = np.maximum(summed(parents, degree, count)[parents], 1e-12)
    # What a node loses by being in a group of such a degree.
    cost = resolution * degree / total
    apart = graph.source != graph.target
    others = Ties(graph.source[apart], graph.target[apart], graph.weight[apart])
    for number in range(MOST_ROUNDS):
        chosen = _choice(others, labels, degree, cost)
        # Neighbours that swap places for ever do not if only every other node may move at a time.
        turn = (np.arange(count) * 2654435761 >> 7) % 2 == number % 2
        moving = turn & (chosen != labels)
        labels = np.where(moving, chosen, labels)
        if number and not moving.any():
            break
    return labels


def _choice(
    ties: Ties, labels: Labels, degree: NDArray[np.float64], cost: NDArray[np.float64]
) -> Labels:
    """For each node the group with the highest gain; of equal ones, and with none, its own."""
    count = len(labels)
    own = np.arange(count)
    pairs = np.concatenate([ties.source * count + labels[ties.target], own * count + labels])
    known, number = np.unique(pairs, return_inverse=True)
    tied = summed(number, np.concatenate([ties.weight, np.zeros(count)]), len(known))
    node, group = known // count, known % count
    stays = labels[node] == group
    others = summed(labels, degree, count)[group] - np.where(stays, degree[node], 0.0)
    gain = tied - cost[node] * others + np.where(stays, 1e-9, 0.0)
    order = np.lexsort((group, -gain, node))
    return group[order[np.searchsorted(node[order], own)]]


def _merged(graph: Ties, labels: Labels, count: int) -> Ties:
    """The graph of the groups: ties inside one become a tie with itself."""
    pairs = labels[graph.source] * count + labels[graph.target]
    known, number = np.unique(pairs, return_inverse=True)
    weight = summed(number, graph.weight, len(known))
    return Ties(known // count, known % count, weight)
