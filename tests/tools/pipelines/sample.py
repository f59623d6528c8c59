"""A small pipeline, the passages it finds and a generator that names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import override

from tools.pipelines.contracts import (
    BlockUnavailable,
    Citation,
    Draft,
    Found,
    IndexSpec,
    Passage,
    Pipeline,
    Retrieval,
    Run,
    Stage,
    Usage,
)
from tools.techniques import Parameters

SPEC = IndexSpec(version_id=7, corpus="moon", number=3, embedding_model="granite", folder="1/3")
PASSAGES = tuple(
    Passage(row, f"moon#{row}", "moon.txt", f"Text {row}", "The moon", {"source": source})
    for row, source in enumerate(("a.txt", "b.txt", "a.txt", "c.txt", "d.txt", "e.txt"))
)


class Shelf:
    """The passages of an index, and nothing else of it."""

    spec: ClassVar[IndexSpec] = SPEC

    def passage(self, row: int) -> Passage:
        return PASSAGES[row]

    def __len__(self) -> int:
        return len(PASSAGES)


class Writer:
    """Names its passages; remembers what it was allowed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.allowed: list[int] = []

    def generate(
        self, query: str, passages: Sequence[Passage], *, max_tokens: int, run: Run
    ) -> Draft:
        self.allowed.append(max_tokens)
        text = " ".join(passage.passage_id for passage in passages)
        note = "written by hand" if self.name == "noted" else ""
        cited = (Citation(1, "moon#0", "a.txt"), Citation(2, "web#0", "https://example.com/moon"))
        return Draft(text, self.name or "writer", Usage(11, 4), cited, note=note)


class SampleParameters(Parameters):
    odd: str = ""
    low: int = Field(default=0, ge=0)
    high: int = 9

    @model_validator(mode="after")
    def _in_order(self) -> SampleParameters:
        if self.low > self.high:
            raise ValueError("low must not be above high")
        return self


class Sample(Pipeline[SampleParameters]):
    """Finds all passages, the worst first, with scores that no JSON has."""

    name = "sample"
    title = "Sample"
    description = "For tests."
    parameters = SampleParameters

    @override
    def retrieve(self, query: str, parameters: SampleParameters, run: Run) -> Retrieval:
        run.report(Stage.RETRIEVE, "Looking")
        if parameters.odd == "block":
            raise BlockUnavailable("The model is not installed here")
        scores = np.array([0.1, 0.9, 0.5, np.nan, np.inf, 0.2], np.float32)
        told = {"low": np.int64(parameters.low), "odds": [np.float32("nan")], "pipeline_name": "x"}
        return Retrieval(Found(np.arange(6, dtype=np.int64), scores), told, tokens=5)
