"""What an index needs of one document, made once and kept: passages, vectors, token vectors, sentences.

A part is a file named after everything it depends on: the document's content and title, the embedding
model, how the text is cut, and the revisions of the code that does so. So an unchanged document is
never embedded twice, two corpora share what they have in common, and vectors of two models cannot meet.
"""

from __future__ import annotations

import hashlib
import logging
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from tools.pipelines.blocks.embedder import canonical, embedder, token_counter
from tools.pipelines.chunking import (
    CHUNKING_REVISION,
    HEADING_MARK,
    ChunkSettings,
    ChunkText,
    chunk_document,
)
from tools.pipelines.contracts import Matrix, Passage
from tools.pipelines.index import layout
from tools.pipelines.reading import (
    READING_REVISION,
    ReadDocument,
    UnreadableDocument,
    read_document,
)

logger = logging.getLogger(__name__)

# Part of every key: raise it whenever parts are made or written differently.
REVISION: Final = 1
# Passages embedded between two signs of life.
EMBEDDED_AT_ONCE: Final = 64
LONGEST_TITLE: Final = 500


_Cut = tuple[ReadDocument, Sequence[ChunkText]]


@dataclass(frozen=True, slots=True)
class PartSettings:
    """How documents are cut and embedded."""

    embedding_model: str
    chunk_tokens: int
    chunk_overlap: int


@dataclass(frozen=True, slots=True)
class Source:
    """A document to make a part of. Without a title it gets the one it names itself."""

    name: str
    media_type: str
    digest: str
    title: str
    content: bytes


@dataclass(frozen=True, slots=True)
class PartChunk:
    """One passage of a part. `sentences` are stretches of the text."""

    text: str
    title: str
    heading: str
    page: int | None
    tokens: int
    sentences: tuple[tuple[int, int], ...]
    metadata: Mapping[str, Any]

    @property
    def indexed_text(self) -> str:
        return Passage(0, "", "", self.text, self.title).indexed_text

    def sentence_texts(self) -> list[str]:
        return [self.text[start:end] for start, end in self.sentences]


@dataclass(frozen=True, slots=True)
class Part:
    """A document as an index takes it in. The arrays have the passages' rows one behind the other."""

    key: str
    title: str
    metadata: Mapping[str, Any]
    notes: tuple[str, ...]
    chunks: tuple[PartChunk, ...]
    vectors: Matrix
    token_counts: NDArray[np.int64]
    tokens: NDArray[np.int8]
    scales: Matrix
    sentence_vectors: NDArray[np.float16]

    def __len__(self) -> int:
        return len(self.chunks)


def part_key(settings: PartSettings, media_type: str, digest: str, title: str) -> str:
    """The name of the part that a document with this content and title has."""
    from tools.pipelines.blocks.tokens import encoding_id

    made_of = {
        "content": digest,
        "media_type": media_type,
        "title": title,
        "embedding_model": canonical(settings.embedding_model),
        "tokens": settings.chunk_tokens,
        "overlap": settings.chunk_overlap,
        "reading": READING_REVISION,
        "chunking": CHUNKING_REVISION,
        "encoding": encoding_id(),
        "revision": REVISION,
    }
    return hashlib.sha256(orjson.dumps(made_of, option=orjson.OPT_SORT_KEYS)).hexdigest()


def made_part(
    settings: PartSettings, source: Source, beat: Callable[[], None] = lambda: None
) -> Part:
    """The document's part: the kept one, or a new one. `beat` is called while it is made.

    Raises:
        UnreadableDocument: there is nothing to index in it; the message is for the operator.
        EmbedderUnavailable: the model cannot be used here.
    """
    key = part_key(settings, source.media_type, source.digest, source.title)
    kept = open_part(key)
    if kept is not None:
        return kept
    count = token_counter(settings.embedding_model)
    cut = _read_and_cut(settings, source, count)
    title = source.title or cut[0].title[:LONGEST_TITLE]
    if title != source.title:
        key = part_key(settings, source.media_type, source.digest, title)
        kept = open_part(key)
        if kept is not None:
            return kept
    part = _embedded(settings.embedding_model, key, title, cut, beat)
    _write(part)
    return part


def open_part(key: str) -> Part | None:
    """The kept part of that name; None when there is none, or none that can be read."""
    path = layout.part_path(key)
    try:
        with np.load(path) as stored:
            part = _read(key, stored)
    except FileNotFoundError:
        return None
    except (OSError, EOFError, ValueError, LookupError, TypeError, zipfile.BadZipFile) as fault:
        logger.warning("The part %s is damaged and is made anew: %s", key, fault)
        path.unlink(missing_ok=True)
        return None
    return part


def _read_and_cut(settings: PartSettings, source: Source, count: Callable[[str], int]) -> _Cut:
    try:
        read = read_document(source.name, source.media_type, source.content)
        sizes = ChunkSettings(tokens=settings.chunk_tokens, overlap=settings.chunk_overlap)
        chunks = chunk_document(read, sizes, count)
    except UnreadableDocument:
        raise
    except Exception as fault:
        # Whatever a document does to a reader, it must not stop the others.
        logger.exception("A document cannot be read")
        raise UnreadableDocument("It cannot be read; the log says why.") from fault
    if not chunks:
        raise UnreadableDocument("There is no text in this document.")
    return read, chunks


def _embedded(model_id: str, key: str, title: str, cut: _Cut, beat: Callable[[], None]) -> Part:
    from tools.pipelines.blocks.tokens import token_encoder

    read, found = cut
    chunks = tuple(_chunk(one, title) for one in found)
    model, encoder = embedder(model_id), token_encoder()
    vectors, encoded = [], []
    for start in range(0, len(chunks), EMBEDDED_AT_ONCE):
        beat()
        some = chunks[start : start + EMBEDDED_AT_ONCE]
        vectors.append(model.embed([chunk.indexed_text for chunk in some]))
        encoded += encoder.encode_passages(
            [chunk.text for chunk in some],
            [chunk.sentences for chunk in some],
            [chunk.title for chunk in some],
        )
    return Part(
        key=key,
        title=title,
        metadata=read.metadata,
        notes=read.notes,
        chunks=chunks,
        vectors=np.concatenate(vectors),
        token_counts=np.array([len(one.tokens) for one in encoded], np.int64),
        tokens=np.concatenate([one.tokens for one in encoded]),
        scales=np.concatenate([one.scales for one in encoded]),
        sentence_vectors=np.concatenate([one.sentences for one in encoded]),
    )


def _write(part: Part) -> None:
    about = {
        "title": part.title,
        "metadata": dict(part.metadata),
        "notes": part.notes,
        "chunks": [
            {name: getattr(chunk, name) for name in PartChunk.__dataclass_fields__}
            for chunk in part.chunks
        ],
    }
    with layout.written_file(layout.part_path(part.key)) as file:
        np.savez(
            file,
            about=np.frombuffer(orjson.dumps(about), np.uint8),
            vectors=part.vectors,
            token_counts=part.token_counts,
            tokens=part.tokens,
            scales=part.scales,
            sentence_vectors=part.sentence_vectors,
        )


def _read(key: str, stored: Mapping[str, Any]) -> Part:
    """The part in a file; a checksum of each array is compared while it is read."""
    about = orjson.loads(stored["about"].tobytes())
    chunks = tuple(
        PartChunk(**{**one, "sentences": tuple((start, end) for start, end in one["sentences"])})
        for one in about["chunks"]
    )
    names = ("vectors", "token_counts", "tokens", "scales", "sentence_vectors")
    arrays = {name: stored[name] for name in names}
    sentences = sum(len(chunk.sentences) for chunk in chunks)
    sizes = (len(chunks), len(chunks), int(arrays["token_counts"].sum()))
    expected = dict(zip(names, (*sizes, sizes[2], sentences), strict=True))
    if {name: len(array) for name, array in arrays.items()} != expected:
        raise ValueError("its arrays do not fit each other")
    return Part(
        key=key,
        title=about["title"],
        metadata=about["metadata"],
        notes=tuple(about["notes"]),
        chunks=chunks,
        **arrays,
    )


def _chunk(chunk: ChunkText, title: str) -> PartChunk:
    # What a passage stands under says what it is about, unless the passage begins with it.
    nearest = chunk.heading.rpartition(HEADING_MARK)[2]
    above = "" if nearest in chunk.text.split("\n") else chunk.heading
    return PartChunk(
        text=chunk.text,
        title=HEADING_MARK.join(part for part in (title, above) if part),
        heading=chunk.heading,
        page=chunk.page,
        tokens=chunk.tokens,
        sentences=chunk.sentences,
        metadata=chunk.metadata,
    )


def encoded_passages(part: Part) -> Iterator[Any]:
    """The token and sentence vectors of a part's passages, as their writers take them."""
    from tools.pipelines.blocks.tokens import EncodedPassage

    token, sentence = 0, 0
    for chunk, count in zip(part.chunks, part.token_counts.tolist(), strict=True):
        own = slice(token, token + count)
        after = sentence + len(chunk.sentences)
        yield EncodedPassage(
            part.tokens[own], part.scales[own], part.sentence_vectors[sentence:after]
        )
        token, sentence = token + count, after
