"""`graphrag`: passages by meaning, by words and through what they name, alone or together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np
from pydantic import Field
from typing_extensions import override

from tools.pipelines.blocks.fusion import convex, reciprocal_ranks, stretched
from tools.pipelines.contracts import Found, Pipeline, Retrieval, Run, Stage, Walk
from tools.techniques import Parameters

SearchMethod = Literal["hybrid", "vector", "text", "graph", "rrf"]

# How many passages each way of searching contributes; more if more are asked for.
POOL: Final = 100
# The walk starts from the nearest passages, and mostly from the very nearest: a passage whose score is
# SHARPNESS of the list's range below the best one starts with 1/e of its weight.
SEEDS: Final = 20
SHARPNESS: Final = 0.05
# The graph's share in a hybrid order, and the share of words in the rest; meaning has what is left.
# Set on hotpotqa_train100 and musique_train100 (docs/explanation/graph-retrieval.md).
GRAPH_SHARE: Final = 0.7
TEXT_SHARE_OF_REST: Final = 0.2


class GraphParameters(Parameters):
    """What callers may send to `graphrag`."""

    search_method: SearchMethod = Field(
        default="hybrid",
        description=(
            "hybrid: meaning, words and entity graph blended by score; rrf: the same blended by "
            "rank; vector, text, graph: one of them alone."
        ),
    )
    graph_traversal_depth: int = Field(
        default=2,
        ge=1,
        le=5,
        description="How many steps from passage to passage the walk over shared entities takes.",
    )
    rrf_k: int = Field(
        default=60,
        ge=1,
        le=100,
        description="Smoothing of reciprocal rank fusion: higher lets lower ranks count more.",
    )


@dataclass(frozen=True, slots=True)
class _Lists:
    """What each way of searching found; None where it was not asked."""

    vector: Found | None = None
    text: Found | None = None
    graph: Walk | None = None

    def all(self) -> list[Found]:
        graph = self.graph.found if self.graph else None
        return [one for one in (self.vector, self.text, graph) if one is not None]


class GraphRag(Pipeline[GraphParameters]):
    """Retrieval over the entity graph, together with meaning and words."""

    name = "graphrag"
    title = "Graph RAG"
    description = (
        "Hybrid GraphRAG: vector, text and entity-graph search - best for questions that connect "
        "several things, whose answer stands in more than one place. Gives an answer, the passages "
        "it is based on and how each way of searching contributed."
    )
    parameters: ClassVar[type[Parameters]] = GraphParameters

    @override
    def retrieve(self, query: str, parameters: GraphParameters, run: Run) -> Retrieval:
        lists = _search(query, parameters, run, POOL)
        found = _merged(lists, parameters, parameters.top_k)
        return Retrieval(found, _metadata(lists, found, parameters))

    @override
    def rank(self, query: str, parameters: GraphParameters, run: Run, count: int) -> Found:
        lists = _search(query, parameters, run, max(POOL, count))
        return _merged(lists, parameters, count)


def _search(query: str, parameters: GraphParameters, run: Run, count: int) -> _Lists:
    method = parameters.search_method
    if method == "text":
        run.report(Stage.RETRIEVE, "Searching by words")
        return _Lists(text=run.index.lexical.search(query, count))
    run.report(Stage.RETRIEVE, "Searching by meaning")
    vector = run.index.vectors.search(run.index.embed_query(query), count)
    if method == "vector":
        return _Lists(vector=vector)
    run.report(Stage.RETRIEVE, "Walking over the entity graph")
    depth = parameters.graph_traversal_depth
    graph = run.index.graph.walk(query, _seeds(vector), depth=depth, count=count)
    if method == "graph":
        return _Lists(graph=graph)
    run.report(Stage.RETRIEVE, "Searching by words")
    return _Lists(vector, run.index.lexical.search(query, count), graph)


def _seeds(vector: Found) -> Found:
    """Where the walk starts, and with what weight."""
    weights = np.exp((stretched(vector.scores) - 1) / np.float32(SHARPNESS))
    return Found(vector.rows, weights.astype(np.float32)).best(SEEDS)


def _merged(lists: _Lists, parameters: GraphParameters, count: int) -> Found:
    if parameters.search_method == "rrf":
        return reciprocal_ranks(lists.all(), count, k=parameters.rrf_k)
    if parameters.search_method != "hybrid":
        return lists.all()[0].best(count)
    vector, text, walked = lists.all()
    # What a walk leaves on passages falls by orders of magnitude; the root keeps the second best in sight.
    graph = Found(walked.rows, np.sqrt(walked.scores))
    rest = 1 - GRAPH_SHARE
    parts = [
        (vector, rest * (1 - TEXT_SHARE_OF_REST)),
        (text, rest * TEXT_SHARE_OF_REST),
        (graph, GRAPH_SHARE),
    ]
    return convex(parts, count)


def _metadata(lists: _Lists, found: Found, parameters: GraphParameters) -> dict[str, Any]:
    told: dict[str, Any] = {
        "search_method_used": parameters.search_method,
        "graph_traversal_depth": parameters.graph_traversal_depth,
        "rrf_score": _rrf_score(lists, found, parameters.rrf_k),
        "vector_results": len(lists.vector) if lists.vector else 0,
        "text_results": len(lists.text) if lists.text else 0,
        "graph_results": len(lists.graph.found) if lists.graph else 0,
    }
    if lists.graph:
        told["query_entities"] = list(lists.graph.query_entities)
        told["entities_reached"] = lists.graph.entities_reached
    return told


def _rrf_score(lists: _Lists, found: Found, k: int) -> float:
    """The reciprocal ranks of the best passage in the lists, added up; 0 when nothing was found."""
    if not len(found):
        return 0.0
    ranks = [np.flatnonzero(one.rows == found.rows[0]) for one in lists.all()]
    return float(sum(1.0 / (k + 1 + int(rank[0])) for rank in ranks if len(rank)))
