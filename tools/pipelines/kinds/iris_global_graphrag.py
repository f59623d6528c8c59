"""`iris_global_graphrag`: answers about a collection as a whole, from groups of its passages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from pydantic import Field
from typing_extensions import override

from tools.pipelines.blocks.fusion import best
from tools.pipelines.contracts import (
    Community,
    Draft,
    Found,
    Matrix,
    Passage,
    Pipeline,
    Retrieval,
    Rows,
    Run,
    Stage,
)
from tools.techniques import Parameters

# The communities nearest by their centre, of which those are used whose best passages fit best too.
NEAREST: Final = 20
USED: Final = 10
BEST_PASSAGES: Final = 3
# Passages of the used communities come before others that are a little nearer to the question: by this
# share of the range of scores.
MEMBER_BONUS: Final = 0.2
POOL: Final = 100
# The communities whose summaries are read, before the passages themselves.
READ_SUMMARIES: Final = 5
_MARK: Final = re.compile(r"[ \t]?\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\]")


class GlobalParameters(Parameters):
    """What callers may send to `iris_global_graphrag`."""

    top_k: int = Field(
        default=10, ge=1, le=100, description="How many passages to retrieve at most."
    )
    community_level: int = Field(
        default=1,
        ge=0,
        le=5,
        description="How fine the communities are: 0 is the coarsest; beyond the finest, the finest.",
    )
    include_citations: bool = Field(
        default=False,
        description="Mark statements with [n] and list the passages they stand on.",
    )


@dataclass(frozen=True, slots=True)
class _Choice:
    """The communities that an answer is made from, best first, and how well each fits."""

    communities: tuple[Community, ...]
    scores: tuple[float, ...]


class IrisGlobalGraphRag(Pipeline[GlobalParameters]):
    """Retrieval by community, for questions about the whole."""

    name = "iris_global_graphrag"
    title = "Global Graph RAG"
    description = (
        "Global GraphRAG over communities of passages and their summaries - best for broad questions "
        "about a whole collection: its themes, what it says about a subject overall. Gives an answer, "
        "the passages it is based on and, when asked, citations."
    )
    parameters: ClassVar[type[Parameters]] = GlobalParameters

    @override
    def retrieve(self, query: str, parameters: GlobalParameters, run: Run) -> Retrieval:
        vector = run.index.embed_query(query)
        choice = _choose(vector, parameters.community_level, run)
        found = _rank(vector, choice, run, parameters.top_k)
        return Retrieval(found, _metadata(choice, parameters), _context(choice, found, run))

    @override
    def rank(self, query: str, parameters: GlobalParameters, run: Run, count: int) -> Found:
        vector = run.index.embed_query(query)
        return _rank(vector, _choose(vector, parameters.community_level, run), run, count)

    @override
    def generate(
        self, query: str, parameters: GlobalParameters, retrieval: Retrieval, run: Run
    ) -> Draft:
        draft = super().generate(query, parameters, retrieval, run)
        if parameters.include_citations:
            return draft
        marks = {str(citation.number) for citation in draft.citations}
        return replace(draft, text=_without_marks(draft.text, marks))

    @override
    def tell(
        self, parameters: GlobalParameters, retrieval: Retrieval, draft: Draft
    ) -> Mapping[str, Any]:
        if not parameters.include_citations:
            return retrieval.metadata
        citations = [
            {"number": one.number, "passage_id": one.passage_id, "source": one.source}
            for one in draft.citations
        ]
        return {**retrieval.metadata, "citations": citations}


def _choose(vector: Matrix, level: int, run: Run) -> _Choice:
    """The communities that fit: by their centre, and by the best of their central passages."""
    run.report(Stage.RETRIEVE, "Choosing communities")
    near = run.index.communities.search(vector, level, NEAREST)
    fits = []
    for community, score in near:
        cosines = _cosines(vector, np.array(community.rows, np.int64), run)
        fits.append((score + float(np.sort(cosines)[-BEST_PASSAGES:].mean())) / 2)
    order = sorted(range(len(near)), key=lambda place: -fits[place])[:USED]
    return _Choice(tuple(near[place][0] for place in order), tuple(fits[place] for place in order))


def _rank(vector: Matrix, choice: _Choice, run: Run, count: int) -> Found:
    run.report(Stage.RETRIEVE, "Searching the communities")
    nearest = run.index.vectors.search(vector, max(POOL, count))
    if not len(nearest):
        return nearest
    central = [row for community in choice.communities for row in community.rows]
    members = np.unique(np.array(central, np.int64))
    others = np.isin(nearest.rows, members, invert=True)
    rows = np.concatenate([members, nearest.rows[others]])
    bonus = np.float32(MEMBER_BONUS * float(nearest.scores[0] - nearest.scores[-1]))
    scores = np.concatenate([_cosines(vector, members, run) + bonus, nearest.scores[others]])
    return best(rows, scores, count)


def _cosines(vector: Matrix, rows: Rows, run: Run) -> Matrix:
    return run.index.vectors.vectors(rows) @ np.ravel(vector)


def _metadata(choice: _Choice, parameters: GlobalParameters) -> dict[str, Any]:
    level = choice.communities[0].level if choice.communities else parameters.community_level
    return {
        "community_level": level,
        "communities": [
            {
                "id": community.community_id,
                "title": community.title,
                "size": community.size,
                "score": score,
            }
            for community, score in zip(choice.communities, choice.scores, strict=True)
        ],
    }


def _context(choice: _Choice, found: Found, run: Run) -> tuple[Passage, ...]:
    """What the answer is written from: summaries, each sentence under the passage it is from, then
    the passages themselves. A passage that is there as a whole needs no sentence of its own."""
    whole = frozenset(found.rows.tolist())
    sentences = [
        replace(run.index.passage(row), title=community.title, text=sentence)
        for community in choice.communities[:READ_SUMMARIES]
        for sentence, row in _summary(community)
        if row not in whole
    ]
    return (*sentences, *(run.index.passage(row) for row in found.rows.tolist()))


def _summary(community: Community) -> list[tuple[str, int]]:
    lines: Sequence[str] = community.summary.splitlines()
    return list(zip(lines, community.summary_rows, strict=True))


def _without_marks(text: str, marks: set[str]) -> str:
    """The text without [n] for the n that stand for passages."""

    def gone(found: re.Match[str]) -> str:
        return "" if set(re.findall(r"\d+", found[0])) & marks else found[0]

    return _MARK.sub(gone, text)
