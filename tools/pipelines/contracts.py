"""The values and interfaces that pipelines and their building blocks share. No framework in here.

Rows are the numbers of passages within one index version: 0 to n - 1, the same in every block of it.
Scores are only comparable within one answer of one block, unless a block says more.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tools.techniques import Parameters

Matrix = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
ANY_PASSAGE: Final = None


class Stage(StrEnum):
    """What a query is doing; callers that asked for progress are told."""

    RETRIEVE = "retrieve"
    RERANK = "rerank"
    GENERATE = "generate"


class QueryCancelled(Exception):
    """Nobody waits for this query any more."""


class BlockUnavailable(Exception):
    """A block cannot do its work here. The message is for callers: no addresses, no secrets."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk of a document, as an index keeps it.

    `metadata` has `source` and, where known, `title`, `heading`, `page` and what the document's own
    metadata says.
    """

    row: int
    passage_id: str
    document: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def indexed_text(self) -> str:
        """What embedders and word search see: the text behind the title it stands under."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Found:
    """Rows and their scores, best first."""

    rows: Rows
    scores: Matrix

    def __len__(self) -> int:
        return len(self.rows)

    def best(self, count: int) -> Found:
        return Found(self.rows[:count], self.scores[:count])

    @classmethod
    def nothing(cls) -> Found:
        return cls(np.empty(0, np.int64), np.empty(0, np.float32))


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """Which index version a query runs on. `folder` is relative to the folder of all indexes."""

    version_id: int
    corpus: str
    number: int
    embedding_model: str
    folder: str
    store: str = "files"
    chunks: int = 0


class VectorStore(Protocol):
    """Nearest passages by the cosine of unit vectors."""

    def search(self, vector: Matrix, count: int, allowed: Mask | None = None) -> Found: ...

    def vectors(self, rows: Rows) -> Matrix:
        """The vectors of these rows, in their order."""
        ...

    def __len__(self) -> int: ...

    def close(self) -> None: ...


class LexicalIndex(Protocol):
    """Passages that share words with a text; rows without any are not found."""

    def search(self, text: str, count: int, allowed: Mask | None = None) -> Found: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Interaction:
    """MaxSim of a query with some passages: one score per row, between -1 and 1.

    `token_scores` has, per row, the best similarity of each query token.
    """

    scores: Matrix
    token_scores: Matrix
    comparisons: int


class TokenStore(Protocol):
    """Vectors of the single tokens of passages, for late interaction."""

    def interact(
        self, query: str, rows: Rows, *, query_tokens: int = 256, keep: float = 1.0
    ) -> Interaction:
        """Score `rows`; `keep` is the share of each passage's token vectors that is left after
        pooling neighbours, `query_tokens` the most tokens of the query that count."""
        ...

    def close(self) -> None: ...


class SentenceStore(Protocol):
    """The sentences of passages and their vectors, made at ingest."""

    def sentences(self, row: int) -> Sequence[str]: ...

    def scores(self, query: str, rows: Rows) -> list[Matrix]:
        """For each row the cosine of the query with each of its sentences."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk over the entity graph found, and what it started from."""

    found: Found
    query_entities: tuple[str, ...] = ()
    entities_reached: int = 0


class EntityGraph(Protocol):
    """Which passages hang together through the things they name."""

    def walk(self, query: str, seeds: Found, *, depth: int, count: int) -> Walk:
        """Passages reached from the query's entities and the seed passages within `depth` steps
        from passage to passage."""
        ...

    def coverage(self, query: str, rows: Rows) -> float | None:
        """The share of the query's entities that these passages name; None when it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Community:
    """A group of passages about the same things. `rows` are those nearest its centre, best first.

    `summary` has one sentence per line; `summary_rows` are the passages they were taken from.
    """

    community_id: str
    level: int
    title: str
    summary: str
    size: int
    rows: tuple[int, ...]
    summary_rows: tuple[int, ...] = ()


class Communities(Protocol):
    """Groups of passages, coarse (level 0) to fine."""

    @property
    def levels(self) -> int: ...

    def search(self, vector: Matrix, level: int, count: int) -> list[tuple[Community, float]]:
        """The communities of a level that fit the query best; a level beyond the last is the last."""
        ...


class OpenIndex(Protocol):
    """One index version, opened for queries. Blocks are opened when they are first used."""

    @property
    def spec(self) -> IndexSpec: ...

    def passage(self, row: int) -> Passage: ...

    def __len__(self) -> int: ...

    @property
    def vectors(self) -> VectorStore: ...

    @property
    def lexical(self) -> LexicalIndex: ...

    @property
    def tokens(self) -> TokenStore: ...

    @property
    def sentences(self) -> SentenceStore: ...

    @property
    def graph(self) -> EntityGraph: ...

    @property
    def communities(self) -> Communities: ...

    def embed_query(self, text: str) -> Matrix:
        """The query's vector by the model that made this index."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class IndexSource:
    """All passages of a version about to be built, for the blocks that look at them together."""

    passages: Sequence[Passage]
    vectors: Matrix
    sentences: Sequence[Sequence[str]]


# Builds what a block needs into a folder of its own inside the version's folder.
BlockBuilder = Callable[[Path, IndexSource], None]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that an answer cost: those read and those written."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Citation:
    """A statement of the answer and the passage it stands on."""

    number: int
    passage_id: str
    source: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a generator wrote. `generator` names it: `extractive`, or the model.

    `note` says, for callers, why it is another generator than the one configured.
    """

    text: str
    generator: str
    usage: Usage = field(default_factory=Usage)
    citations: tuple[Citation, ...] = ()
    truncated: bool = False
    note: str = ""


class Generator(Protocol):
    """Writes an answer from passages, best first; an empty one from none."""

    def generate(
        self, query: str, passages: Sequence[Passage], *, max_tokens: int, run: Run
    ) -> Draft: ...


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a pipeline found: passages with scores, best first, and what it tells about the way.

    `context` is what the generator reads when that is more or other than the passages themselves,
    such as summaries of communities or results of a web search. `tokens` counts model tokens that
    finding them cost.
    """

    found: Found
    metadata: Mapping[str, Any] = field(default_factory=dict)
    context: tuple[Passage, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One query under way: what it runs on, and the ways out of the pipeline.

    `report` tells what is being done; it raises `QueryCancelled` when nobody waits any more.
    `call_tool` calls another tool of this control plane as the same caller: (name, arguments) to
    its data; it raises `BlockUnavailable` when that fails. None where there is none.
    `deadline` is when the answer must be there, by `time.monotonic()`.
    """

    index: OpenIndex
    generator: Generator
    max_tokens: int = 4096
    report: Callable[[Stage, str], None] = lambda stage, message: None
    call_tool: Callable[[str, Mapping[str, Any]], Any] | None = None
    web_search_tool: str = ""
    deadline: float = math.inf

    def remaining(self, most: float = math.inf) -> float:
        """Seconds until the deadline, `most` at most; 0 when it has passed."""
        return max(0.0, min(most, self.deadline - time.monotonic()))


P = TypeVar("P", bound=Parameters)


class Pipeline(ABC, Generic[P]):
    """A technique that runs. One instance per process serves every query of its kind, one at a time.

    Subclasses give `name`, `title`, `description` (it says when to use the technique) and
    `parameters`, and implement `retrieve`; most leave the rest as it is.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    parameters: ClassVar[type[Parameters]]

    @abstractmethod
    def retrieve(self, query: str, parameters: P, run: Run) -> Retrieval:
        """Find passages: at most as many as the parameters ask for."""

    def rank(self, query: str, parameters: P, run: Run, count: int) -> Found:
        """The `count` best passages, for measuring; by default what `retrieve` finds."""
        return self.retrieve(query, parameters, run).found

    def generate(self, query: str, parameters: P, retrieval: Retrieval, run: Run) -> Draft:
        """Write the answer."""
        passages = retrieval.context or tuple(
            run.index.passage(int(row)) for row in retrieval.found.rows
        )
        return run.generator.generate(query, passages, max_tokens=run.max_tokens, run=run)

    def tell(self, parameters: P, retrieval: Retrieval, draft: Draft) -> Mapping[str, Any]:
        """What the answer's metadata says beside what every technique tells."""
        return retrieval.metadata
