"""An index of a few plain articles, for the techniques that look at texts."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.tools.pipelines.kinds.graph_index import ARTICLES, graph_index
from tools.pipelines.blocks.generation.extractive import ExtractiveGenerator
from tools.pipelines.contracts import OpenIndex, Pipeline, Retrieval, Run
from tools.techniques import input_schema

VERSION = 61


@cache
def text_index() -> OpenIndex:
    return graph_index(VERSION)


def ask(pipeline: Pipeline[Any], query: str, run: Run | None = None, **values: Any) -> Retrieval:
    """What a technique retrieves from the articles."""
    parameters = pipeline.parameters.model_validate({"query": query, **values})
    return pipeline.retrieve(query, parameters, run or run_on_articles())


def ranked(pipeline: Pipeline[Any], query: str, count: int, **values: Any) -> list[str]:
    parameters = pipeline.parameters.model_validate({"query": query, **values})
    found = pipeline.rank(query, parameters, run_on_articles(), count)
    assert list(found.scores) == sorted(found.scores, reverse=True)
    return [ARTICLES[row][0] for row in found.rows.tolist()]


def run_on_articles(**ways: Any) -> Run:
    return Run(text_index(), ExtractiveGenerator(), **ways)


def titles(retrieval: Retrieval) -> list[str]:
    return [ARTICLES[row][0] for row in retrieval.found.rows.tolist()]


def bounds(pipeline: type[Pipeline[Any]]) -> dict[str, Any]:
    """The parameters of a technique: default, and limits or choices, by name."""
    told = {}
    for name, about in input_schema(pipeline, {})["properties"].items():
        limits = [
            about[key] for key in ("minimum", "maximum", "minLength", "maxLength") if key in about
        ]
        told[name] = (about["type"], about.get("default"), *limits, *about.get("enum", ()))
    return told


COMMON = {
    "query": ("string", None, 1, 8000),
    "include_sources": ("boolean", True),
    "include_metadata": ("boolean", True),
}
