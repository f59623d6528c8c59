"""Puts an index version together from the parts of its documents, aside, and moves it into place whole.

Parts are read one at a time, so memory does not grow with them; what the blocks that look at all
passages need is read from the files just written.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, overload

import numpy as np
import orjson
from typing_extensions import override

from tools.pipelines.blocks.embedder import canonical, embedder
from tools.pipelines.blocks.vectors.choose import FILES, POSTGRESQL, build_store
from tools.pipelines.blocks.vectors.exact import VECTORS
from tools.pipelines.contracts import IndexSource, IndexSpec, Matrix, SentenceStore
from tools.pipelines.index import layout
from tools.pipelines.index.parts import Part, encoded_passages, open_part
from tools.pipelines.index.passages import Passages, PassageWriter

logger = logging.getLogger(__name__)

Beat = Callable[[], None]
FORMAT: Final = 1


class PartMissing(Exception):
    """A part is not there, or is not what it was when it was made."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True, slots=True)
class Member:
    """One document of a version: what its passages are called and say beside their text."""

    name: str
    part: str
    chunks: int
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a version is made of. `fingerprint` tells it from every other."""

    spec: IndexSpec
    members: Sequence[Member]
    chunking: Mapping[str, Any]
    fingerprint: str


def assemble(plan: Plan, beat: Beat) -> dict[str, Any]:
    """Write the version's folder, unless it is there already; gives what is worth knowing about it.

    Raises:
        PartMissing: a part must be made first. Nothing is left behind.
    """
    target = layout.version_folder(plan.spec.folder)
    meta = _meta(target)
    if meta is not None and meta["fingerprint"] == plan.fingerprint:
        # Whoever wrote it did not live to say so.
        return meta
    # Or it is of another database that used this folder.
    layout.remove_version(plan.spec.folder)
    with layout.written_aside(target) as aside:
        return _assembled(aside, plan, beat)


def _assembled(folder: Path, plan: Plan, beat: Beat) -> dict[str, Any]:
    from tools.pipelines.blocks.tokens import open_sentences, write_sentences, write_tokens

    began = time.monotonic()
    spec, members = plan.spec, plan.members
    dimensions = embedder(spec.embedding_model).dimensions
    count = sum(member.chunks for member in members)
    vectors = np.lib.format.open_memmap(
        folder / VECTORS, "w+", np.float32, shape=(count, dimensions)
    )
    with closing(PassageWriter(folder)) as writer:
        write_tokens(folder / layout.TOKENS, _taken_in(members, vectors, writer, beat))
    vectors.flush()
    write_sentences(folder / layout.SENTENCES, _sentences(members, beat))
    passages = Passages(folder)
    said = open_sentences(folder / layout.SENTENCES)
    source = IndexSource(passages, vectors.view(np.ndarray), _AllSentences(said, len(passages)))
    seconds = _build_blocks(folder, spec, source, beat)
    said.close()
    if spec.store != FILES:
        (folder / VECTORS).unlink()
    meta = {
        "format": FORMAT,
        "embedding_model": canonical(spec.embedding_model),
        "dimensions": dimensions,
        "chunking": dict(plan.chunking),
        "store": spec.store,
        "documents": len(members),
        "chunks": count,
        "fingerprint": plan.fingerprint,
        "seconds": {"all": round(time.monotonic() - began, 2), **seconds},
    }
    # Last: a folder with it is whole.
    (folder / layout.META).write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))
    return meta


def _parts(members: Sequence[Member], beat: Beat) -> Iterator[tuple[Member, Part]]:
    for member in members:
        beat()
        part = open_part(member.part)
        if part is None or len(part) != member.chunks:
            raise PartMissing(member.part)
        yield member, part


def _taken_in(
    members: Sequence[Member], vectors: Matrix, writer: PassageWriter, beat: Beat
) -> Iterator[Any]:
    """Write vectors and passages, and hand on the token vectors of the same parts."""
    row = 0
    for member, part in _parts(members, beat):
        if part.vectors.shape[1] != vectors.shape[1]:
            # Cannot be: the model is part of the key.
            raise ValueError(f"The part {part.key} has vectors of another model")
        vectors[row : row + len(part)] = part.vectors
        row += len(part)
        writer.document(member.name, {**part.metadata, **member.metadata})
        for ordinal, chunk in enumerate(part.chunks):
            about = {"heading": chunk.heading, "page": chunk.page, "title": part.title}
            known = {key: value for key, value in about.items() if value not in ("", None)}
            writer.passage(
                f"{member.name}#{ordinal}", chunk.text, chunk.title, {**chunk.metadata, **known}
            )
        yield from encoded_passages(part)


def _sentences(members: Sequence[Member], beat: Beat) -> Iterator[Any]:
    for _, part in _parts(members, beat):
        for chunk, encoded in zip(part.chunks, encoded_passages(part), strict=True):
            yield chunk.sentence_texts(), encoded.sentences


def _build_blocks(
    folder: Path, spec: IndexSpec, source: IndexSource, beat: Beat
) -> dict[str, float]:
    from tools.pipelines.blocks.graph import build_communities, build_graph
    from tools.pipelines.blocks.lexical import build_lexical

    blocks: dict[str, Callable[[], None]] = {
        "lexical": lambda: build_lexical(folder / layout.LEXICAL, source),
        "graph": lambda: build_graph(folder / layout.GRAPH, source),
        "communities": lambda: build_communities(folder / layout.COMMUNITIES, source),
        "store": lambda: build_store(
            spec.store, spec.version_id, folder, source.vectors, source.passages
        ),
    }
    if spec.store == POSTGRESQL:
        # Its words are in the store.
        del blocks["lexical"]
    seconds = {}
    for name, build in blocks.items():
        beat()
        began = time.monotonic()
        build()
        seconds[name] = round(time.monotonic() - began, 2)
        logger.info("The %s of version %d took %.1f s", name, spec.version_id, seconds[name])
    return seconds


def _meta(folder: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = orjson.loads((folder / layout.META).read_bytes())
    except (OSError, ValueError):
        return None
    return found


class _AllSentences(Sequence[Sequence[str]]):
    """The sentences of all passages, read when they are looked at."""

    def __init__(self, said: SentenceStore, count: int) -> None:
        self._said = said
        self._count = count

    @override
    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> Sequence[str]: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Sequence[str]]: ...

    @override
    def __getitem__(self, row: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(self._count))]
        if not 0 <= row < self._count:
            raise IndexError(row)
        return self._said.sentences(row)
