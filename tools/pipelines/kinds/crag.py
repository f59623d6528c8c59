"""`crag`: retrieval that judges its own result, and tries again when it does not trust it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from pydantic import Field
from typing_extensions import override

from tools.pipelines.blocks.calibration import calibration_for, evidence_of, looked_at
from tools.pipelines.blocks.expansion import expanded
from tools.pipelines.blocks.fusion import convex
from tools.pipelines.blocks.hybrid import POOL, FirstStage, first_stage, followed_by
from tools.pipelines.blocks.web_results import pages_of
from tools.pipelines.contracts import (
    BlockUnavailable,
    Found,
    Passage,
    Pipeline,
    Retrieval,
    Run,
    Stage,
)
from tools.techniques import Parameters

Strategy = Literal["rewrite", "web_search", "both"]

# As many passages are ordered anew as `basic_rerank` does when it is not told otherwise.
RERANKED: Final = 10
RERANKER: Final = "cross-encoder/ms-marco-MiniLM-L-6-v2"
# The share of what the rewritten question finds; what the caller asked counts more.
# Set on hotpotqa_train100 and musique_train100 (docs/how-to/measure-quality.md).
REWRITTEN_SHARE: Final = 0.3
# Passages that a rewrite without a language model takes its words from.
READ_FOR_WORDS: Final = 20
REWRITE_TOKENS: Final = 128


class CragParameters(Parameters):
    """What callers may send to `crag`."""

    confidence_threshold: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="Below this confidence in what was retrieved, a corrective step is taken.",
    )
    correction_strategy: Strategy = Field(
        default="rewrite",
        description="The corrective step: ask again in other words, search the web, or both.",
    )
    enable_web_search: bool = Field(
        default=False,
        description="Let the corrective step search the web too, where that is configured.",
    )


@dataclass(slots=True)
class _Correction:
    """What a corrective step did. `web_search` says what became of searching the web."""

    rewritten: str | None = None
    web_search: str = "not asked for"
    pages: list[Passage] = field(default_factory=list)

    @property
    def used(self) -> str | None:
        if self.rewritten is not None and self.pages:
            return "both"
        if self.pages:
            return "web_search"
        return "rewrite" if self.rewritten is not None else None


class Crag(Pipeline[CragParameters]):
    """Corrective retrieval."""

    name = "crag"
    title = "Corrective RAG"
    description = (
        "Corrective RAG: judges how well the passages fit the question and, when in doubt, asks "
        "again in other words or searches the web - best when a wrong answer would be costly. Tells "
        "its confidence and what it corrected."
    )
    parameters = CragParameters

    @override
    def retrieve(self, query: str, parameters: CragParameters, run: Run) -> Retrieval:
        run.report(Stage.RETRIEVE, "Searching by meaning and words")
        first = first_stage(run.index, query, POOL)
        found = _reranked(query, first.found, run)
        confidence, calibrated = _confidence(query, first, found, run)
        correction = _Correction()
        if confidence < parameters.confidence_threshold:
            correction = _correct(query, parameters, found, run)
            if correction.rewritten is not None:
                found = _asked_again(query, correction.rewritten, first, run)
        found = found.best(parameters.top_k)
        metadata = {
            "correction_applied": correction.used is not None,
            "confidence_score": round(confidence, 4),
            "confidence_calibrated": calibrated,
            "original_query": query,
            "rewritten_query": correction.rewritten,
            "correction_strategy_used": correction.used,
            "web_search": correction.web_search,
        }
        return Retrieval(found, metadata, _context(found, correction, run))

    @override
    def rank(self, query: str, parameters: CragParameters, run: Run, count: int) -> Found:
        wanted = parameters.model_copy(update={"top_k": count})
        return self.retrieve(query, wanted, run).found


def _reranked(query: str, found: Found, run: Run) -> Found:
    # Imported late: rerankers need the model runtime.
    from tools.pipelines.blocks.reranking import rerank

    return followed_by(rerank(query, found.best(RERANKED), RERANKER, run).found, found)


def _confidence(query: str, first: FirstStage, found: Found, run: Run) -> tuple[float, bool]:
    """How likely the best passages are to hold what is needed, and whether that was calibrated for
    the index' model."""
    coverage = run.index.graph.coverage(query, looked_at(found))
    calibration, fitted = calibration_for(run.index.spec.embedding_model)
    if not len(found):
        return 0.0, fitted
    return calibration.confidence(evidence_of(first.dense, coverage)), fitted


def _correct(query: str, parameters: CragParameters, found: Found, run: Run) -> _Correction:
    run.report(Stage.RETRIEVE, "Not confident; correcting")
    correction = _Correction()
    if parameters.correction_strategy != "web_search":
        correction.rewritten = _rewritten(query, found, run)
    if parameters.enable_web_search or parameters.correction_strategy != "rewrite":
        correction.web_search, correction.pages = _search_web(query, run)
    return correction


def _rewritten(query: str, found: Found, run: Run) -> str | None:
    """The question in other words: by the language model if there is one, else by adding words."""
    from tools.pipelines.blocks.generation.rewrite import rewrite_with_llm

    other = rewrite_with_llm(query, max_tokens=REWRITE_TOKENS, run=run)
    if other is None:
        near = [run.index.passage(int(row)) for row in found.rows[:READ_FOR_WORDS]]
        other = expanded(query, near)
    return other if other != query else None


def _asked_again(query: str, rewritten: str, first: FirstStage, run: Run) -> Found:
    """What both wordings find together, ordered anew for the question as it was asked."""
    second = first_stage(run.index, rewritten, POOL).found
    parts = [(first.found, 1 - REWRITTEN_SHARE), (second, REWRITTEN_SHARE)]
    return _reranked(query, convex(parts, 2 * POOL), run)


def _search_web(query: str, run: Run) -> tuple[str, list[Passage]]:
    """What became of it, and the pages found. Nothing is made up: without a tool there are none."""
    if not run.web_search_tool or run.call_tool is None:
        return "not configured", []
    run.report(Stage.RETRIEVE, "Searching the web")
    try:
        data = run.call_tool(run.web_search_tool, {"query": query})
    except BlockUnavailable as fault:
        return f"failed: {fault}", []
    pages = pages_of(data)
    return f"{len(pages)} results", pages


def _context(found: Found, correction: _Correction, run: Run) -> tuple[Passage, ...]:
    """What the answer is written from when that is more than the passages found."""
    if not correction.pages:
        return ()
    own = (run.index.passage(int(row)) for row in np.asarray(found.rows))
    return (*own, *correction.pages)
