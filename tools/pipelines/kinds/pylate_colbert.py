"""`pylate_colbert`: passages compared with the question token by token."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from pydantic import Field
from typing_extensions import override

from tools.pipelines.blocks.hybrid import POOL, blended, followed_by
from tools.pipelines.contracts import Found, Pipeline, Retrieval, Run, Stage
from tools.techniques import Parameters

# Passages that are compared token by token; each way of searching finds so many.
CANDIDATES: Final = 50
# The share of late interaction over our own token vectors in the order; that of whole passages is the
# rest. A ColBERT model, trained for this, stands alone.
# docs/how-to/measure-quality.md says how it was chosen.
INTERACTION_SHARE: Final = 0.4
COLBERT_MODEL: Final = "lightonai/GTE-ModernColBERT-v1"


class ColbertParameters(Parameters):
    """What callers may send to `pylate_colbert`."""

    max_query_length: int = Field(
        default=256, ge=32, le=512, description="The most tokens of the question that count."
    )
    interaction_threshold: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Passages whose interaction score is below this are left out. The score is the "
        "mean cosine of the question's tokens with the nearest ones of the passage, moved to 0..1: "
        "0.5 is unrelated, 0.8 is close.",
    )
    compression_ratio: float = Field(
        default=0.8,
        ge=0.1,
        le=1,
        description="The share of each passage's token vectors that is compared, after joining "
        "neighbours.",
    )


class PylateColbert(Pipeline[ColbertParameters]):
    """Retrieval by late interaction."""

    name = "pylate_colbert"
    title = "ColBERT late interaction"
    description = (
        "ColBERT-style late interaction: the question's tokens are compared with those of each "
        "passage - best for detailed questions, of which every part should be matched. Gives an "
        "answer, the passages it is based on and how they were compared."
    )
    parameters = ColbertParameters

    @override
    def retrieve(self, query: str, parameters: ColbertParameters, run: Run) -> Retrieval:
        found, metadata = _search(query, parameters, run, parameters.top_k)
        return Retrieval(found, metadata)

    @override
    def rank(self, query: str, parameters: ColbertParameters, run: Run, count: int) -> Found:
        return _search(query, parameters, run, count)[0]


def _search(
    query: str, parameters: ColbertParameters, run: Run, count: int
) -> tuple[Found, dict[str, Any]]:
    # Imported late: late interaction needs the model runtime.
    from tools.pipelines.blocks.late import late_interaction_for

    run.report(Stage.RETRIEVE, "Searching for passages to compare")
    first = run.index.vectors.search(run.index.embed_query(query), max(count, POOL))
    run.report(Stage.RERANK, "Comparing tokens")
    near = first.best(CANDIDATES)
    scorer = late_interaction_for(COLBERT_MODEL, run.index)
    if scorer.alone:
        passages = [run.index.passage(int(row)) for row in near.rows]
        cosines = np.asarray(scorer.scores(query, passages, run.remaining()), np.float32)
        share, compared, ratio = 1.0, None, None
    else:
        interaction = run.index.tokens.interact(
            query,
            near.rows,
            query_tokens=parameters.max_query_length,
            keep=parameters.compression_ratio,
        )
        cosines, share = interaction.scores, INTERACTION_SHARE
        compared, ratio = interaction.comparisons, parameters.compression_ratio
    close = (1 + cosines) / 2 >= parameters.interaction_threshold
    ordered = blended(near, cosines, share)
    ordered = _only(ordered, near.rows[close])
    # What was not compared may follow only where the threshold keeps everything.
    found = followed_by(ordered, first) if close.all() else ordered
    metadata = {
        "token_interactions": compared,
        "compression_ratio": ratio,
        "interaction_model": scorer.name,
        "interaction_threshold": parameters.interaction_threshold,
        "below_threshold": int((~close).sum()),
        "candidates": len(near),
    }
    return found.best(count), metadata


def _only(found: Found, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Found:
    kept = np.isin(found.rows, rows)
    return Found(found.rows[kept], found.scores[kept])
