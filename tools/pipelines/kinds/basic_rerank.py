"""`basic_rerank`: passages by meaning and words, the best of them ordered anew."""

from __future__ import annotations

from typing import Any, Final, Self

from pydantic import Field, model_validator
from typing_extensions import override

from tools.pipelines.blocks.hybrid import POOL, first_stage, followed_by
from tools.pipelines.contracts import Found, Pipeline, Retrieval, Run, Stage
from tools.techniques import Parameters

DEFAULT_ANSWERED: Final = 5


class RerankParameters(Parameters):
    """What callers may send to `basic_rerank`."""

    top_k: int = Field(
        default=10, ge=1, le=100, description="How many passages to retrieve and order anew."
    )
    rerank_top_k: int = Field(
        default=DEFAULT_ANSWERED,
        ge=1,
        le=50,
        description="How many of them to answer from, at most top_k.",
    )
    reranker_model: str = Field(
        default="cross-encoder/ms-marco-MiniLM-L-6-v2",
        description="The model that orders them; where it cannot be had, the metadata names the "
        "one that took its place.",
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        # One that was left out follows top_k; it was filled in before this sees it.
        if self.rerank_top_k > self.top_k and self.rerank_top_k != DEFAULT_ANSWERED:
            raise ValueError(
                f"rerank_top_k ({self.rerank_top_k}) must not be greater than top_k "
                f"({self.top_k}): only passages that were retrieved can be ordered anew"
            )
        return self

    @property
    def answered(self) -> int:
        """How many passages the answer is based on at most."""
        return min(self.rerank_top_k, self.top_k)


class BasicRerank(Pipeline[RerankParameters]):
    """Retrieval in two stages."""

    name = "basic_rerank"
    title = "RAG with reranking"
    description = (
        "RAG with reranking: passages found by meaning and by words, the best ordered anew by "
        "comparing them with the question - best when precise wording matters, as with names, "
        "codes and technical terms. Gives an answer, the passages it is based on and their sources."
    )
    parameters = RerankParameters

    @override
    def retrieve(self, query: str, parameters: RerankParameters, run: Run) -> Retrieval:
        found, metadata = _search(query, parameters, run, parameters.top_k)
        return Retrieval(found.best(parameters.answered), metadata)

    @override
    def rank(self, query: str, parameters: RerankParameters, run: Run, count: int) -> Found:
        return _search(query, parameters, run, max(count, parameters.top_k))[0].best(count)


def _search(
    query: str, parameters: RerankParameters, run: Run, count: int
) -> tuple[Found, dict[str, Any]]:
    """The `count` best: `top_k` of them ordered anew, the others behind them as they came."""
    # Imported late: rerankers need the model runtime.
    from tools.pipelines.blocks.reranking import rerank

    run.report(Stage.RETRIEVE, "Searching by meaning and words")
    first = first_stage(run.index, query, max(count, POOL)).found
    again = rerank(query, first.best(parameters.top_k), parameters.reranker_model, run)
    metadata = {
        "reranker": again.reranker,
        "reranker_requested": parameters.reranker_model,
        "candidates": len(again.found),
        **({"reranker_note": again.note} if again.note else {}),
    }
    return followed_by(again.found, first).best(count), metadata
