"""Passages of the first stage in a better order, by whatever reranker can be had."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.pipelines.blocks.fusion import best
from tools.pipelines.blocks.hybrid import blended
from tools.pipelines.blocks.late import EMBEDDED, Reranker, reranker_for
from tools.pipelines.contracts import BlockUnavailable, Found, Matrix, Passage, Run, Stage

logger = logging.getLogger(__name__)

# The share of a reranker that only knows tokens, not whole passages; the first stage has the rest.
# Set on hotpotqa_train100 and musique_train100 (docs/how-to/measure-quality.md).
RERANK_SHARE: Final = 0.2
LONGEST_WAIT: Final = 20.0


@dataclass(frozen=True, slots=True)
class Reranked:
    """Passages in their new order, what ordered them, and why it was not what was asked for."""

    found: Found
    reranker: str
    note: str = ""


def rerank(query: str, found: Found, model: str, run: Run) -> Reranked:
    """All of `found` by the reranker for `model`; by our own when that one is away."""
    if not len(found):
        return Reranked(found, EMBEDDED)
    run.report(Stage.RERANK, f"Ordering {len(found)} passages anew")
    passages = [run.index.passage(int(row)) for row in found.rows]
    reranker, note = reranker_for(model, run.index), ""
    try:
        scores = _scores(reranker, query, passages, run)
    except BlockUnavailable as fault:
        if reranker.name == EMBEDDED:
            raise
        logger.warning("%s cannot rerank: %s", reranker.name, fault)
        reranker, note = reranker_for(EMBEDDED, run.index), f"{reranker.name}: {fault}"
        scores = _scores(reranker, query, passages, run)
    if reranker.alone:
        return Reranked(best(found.rows, scores, len(found)), reranker.name, note)
    return Reranked(blended(found, scores, RERANK_SHARE), reranker.name, note)


def _scores(reranker: Reranker, query: str, passages: list[Passage], run: Run) -> Matrix:
    scores = reranker.scores(query, passages, run.remaining(LONGEST_WAIT))
    return np.asarray(scores, np.float32)
