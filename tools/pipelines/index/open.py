"""Index versions opened for queries. A process keeps the latest few open; their files are mapped."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import orjson

from tools.pipelines.blocks.embedder import EmbedderUnavailable, canonical, embedder
from tools.pipelines.blocks.vectors.choose import open_vectors, open_words
from tools.pipelines.contracts import (
    BlockUnavailable,
    Communities,
    EntityGraph,
    IndexSpec,
    LexicalIndex,
    Mask,
    Matrix,
    Passage,
    SentenceStore,
    TokenStore,
    VectorStore,
)
from tools.pipelines.index import layout
from tools.pipelines.index.passages import Passages

MOST_OPEN: Final = 8
# Of one corpus: the version in use, and the one that queries under way still name.
MOST_OPEN_PER_CORPUS: Final = 2
_BLOCKS: Final = ("vectors", "lexical", "tokens", "sentences", "graph", "communities")
_KEPT_MASKS: Final = 64

_opening: Final = threading.Lock()
_opened: Final[OrderedDict[tuple[int, str], FolderIndex]] = OrderedDict()


class IndexUnavailable(BlockUnavailable, ValueError):
    """The index version cannot be searched here. The message is for callers."""


def open_index(spec: IndexSpec) -> FolderIndex:
    """The version, opened by whoever needs it first in this process.

    Raises:
        IndexUnavailable: its files are gone, damaged, or of another model than the spec says.
    """
    key = (spec.version_id, spec.folder)
    with _opening:
        index = _opened.get(key)
        if index is None or index.replaced():
            index = FolderIndex(spec, layout.version_folder(spec.folder))
            _opened[key] = index
        _opened.move_to_end(key)
        _make_room(spec.corpus)
    return index


def close_indexes() -> None:
    """Close what this process has open."""
    with _opening:
        closed = list(_opened.values())
        _opened.clear()
    for index in closed:
        index.close()


def _make_room(corpus: str) -> None:
    """Forget the versions that were not asked for longest; their files are let go with the last
    query that uses them."""
    same = [key for key, index in _opened.items() if index.spec.corpus == corpus]
    doomed = same[:-MOST_OPEN_PER_CORPUS]
    rest = [key for key in _opened if key not in doomed]
    doomed += rest[: max(len(rest) - MOST_OPEN, 0)]
    for key in doomed:
        del _opened[key]


class FolderIndex:
    """See `OpenIndex` for what it promises."""

    def __init__(self, spec: IndexSpec, folder: Path) -> None:
        self._spec = spec
        self._folder = folder
        self._masks: OrderedDict[bytes, Mask] = OrderedDict()
        try:
            self._written = (folder / layout.META).stat().st_mtime_ns
            self.meta: Mapping[str, Any] = orjson.loads((folder / layout.META).read_bytes())
            self._passages = Passages(folder)
        except (OSError, ValueError) as fault:
            raise IndexUnavailable(
                f"Version {spec.number} of the index of {spec.corpus} cannot be opened."
            ) from fault
        if canonical(self.meta["embedding_model"]) != canonical(spec.embedding_model):
            raise IndexUnavailable(
                f"Version {spec.number} of the index of {spec.corpus} was made with another model "
                "than it is asked for."
            )

    @property
    def spec(self) -> IndexSpec:
        return self._spec

    def replaced(self) -> bool:
        """Whether the folder is another one now; one that is gone can still be used here."""
        try:
            return (self._folder / layout.META).stat().st_mtime_ns != self._written
        except OSError:
            return False

    def passage(self, row: int) -> Passage:
        return self._passages[row]

    def __len__(self) -> int:
        return len(self._passages)

    @cached_property
    def vectors(self) -> VectorStore:
        return open_vectors(self._spec, self._folder)

    @cached_property
    def lexical(self) -> LexicalIndex:
        return open_words(self._spec, self._folder / layout.LEXICAL)

    @cached_property
    def tokens(self) -> TokenStore:
        from tools.pipelines.blocks.tokens import open_tokens

        return open_tokens(self._folder / layout.TOKENS)

    @cached_property
    def sentences(self) -> SentenceStore:
        from tools.pipelines.blocks.tokens import open_sentences

        return open_sentences(self._folder / layout.SENTENCES)

    @cached_property
    def graph(self) -> EntityGraph:
        from tools.pipelines.blocks.graph import open_graph

        return open_graph(self._folder / layout.GRAPH)

    @cached_property
    def communities(self) -> Communities:
        from tools.pipelines.blocks.graph import open_communities

        return open_communities(self._folder / layout.COMMUNITIES)

    def embed_query(self, text: str) -> Matrix:
        try:
            return embedder(self._spec.embedding_model).embed_query(text)
        except EmbedderUnavailable as fault:
            raise IndexUnavailable("The embedding model of the index is not available.") from fault

    def mask(self, wanted: Mapping[str, Any]) -> Mask:
        """The rows whose metadata has all of `wanted`; the last few masks are kept."""
        key = orjson.dumps(dict(wanted), option=orjson.OPT_SORT_KEYS)
        if key not in self._masks:
            self._masks[key] = self._passages.mask(wanted)
            if len(self._masks) > _KEPT_MASKS:
                self._masks.popitem(last=False)
        return self._masks[key]

    def close(self) -> None:
        """Let go of the blocks that were opened; they are opened again when they are used again."""
        for name in _BLOCKS:
            block = self.__dict__.pop(name, None)
            if hasattr(block, "close"):
                block.close()
