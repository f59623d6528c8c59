"""Documents into passages that fit a model and follow the structure of the document."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tools.pipelines.chunk_pieces import BLOCK_GAP, Cutter, Piece, TokenCount
from tools.pipelines.reading.document import Block, BlockKind, ReadDocument
from tools.pipelines.sentences import split_sentences

__all__ = [
    "CHUNKING_REVISION",
    "ChunkSettings",
    "ChunkText",
    "chunk_document",
    "split_sentences",
]

# Part of the address of what is made of a document: raise it when passages come out differently.
CHUNKING_REVISION: Final = 1
FEWEST_TOKENS: Final = 16
HEADING_MARK: Final = " > "
# Longer documents are not one passage, whatever the counter.
_MOST_CHARACTERS_PER_TOKEN: Final = 40


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """The most tokens of a passage, and how many of them the next one repeats."""

    tokens: int = 256
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.tokens < FEWEST_TOKENS:
            raise ValueError(f"a passage has at least {FEWEST_TOKENS} tokens")
        if not 0 <= self.overlap * 2 <= self.tokens:
            raise ValueError("the overlap is at most half of the passage's tokens")


@dataclass(frozen=True, slots=True)
class ChunkText:
    """One passage. `sentences` are spans in `text`: what can be quoted, so no headings.

    `heading` names the headings it stands under, `page` the page it begins on, `metadata` what a
    record says of itself.
    """

    ordinal: int
    text: str
    heading: str
    page: int | None
    tokens: int
    sentences: tuple[tuple[int, int], ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Passage:
    """Pieces that make a passage, and its tokens by the counter."""

    pieces: list[Piece]
    text: str
    tokens: int


@dataclass(slots=True)
class _Section:
    """Pieces under the same headings. `alone` never shares a passage with others."""

    key: tuple[str, ...]
    alone: bool
    pieces: list[Piece] = field(default_factory=list)
    tokens: int = 0

    def add(self, pieces: Sequence[Piece]) -> None:
        self.pieces += pieces
        self.tokens += sum(piece.tokens for piece in pieces)


def chunk_document(
    read: ReadDocument, settings: ChunkSettings, count_tokens: Callable[[str], int]
) -> list[ChunkText]:
    """The passages of a document, in its order; the same for the same document, always.

    No passage has more than `settings.tokens` by `count_tokens`. A document that fits is one
    passage. Else sections are kept apart unless they are small, tables are cut between rows and
    repeat their header, code and records stay whole where they fit, and sentences longer than a
    passage are cut between words.
    """
    tokens = TokenCount(count_tokens)
    whole = _as_one(read.blocks, settings, tokens)
    passages = [whole] if whole else list(_passages(read.blocks, settings, tokens))
    return [_chunk(number, passage) for number, passage in enumerate(passages)]


def _as_one(
    blocks: Sequence[Block], settings: ChunkSettings, tokens: TokenCount
) -> _Passage | None:
    if any(_is_alone(block) for block in blocks) and len(blocks) > 1:
        return None
    length = sum(len(block.text) for block in blocks)
    if not blocks or length > settings.tokens * _MOST_CHARACTERS_PER_TOKEN:
        return None
    pieces = [
        Piece(block.kind, block.text, 0, BLOCK_GAP, block.heading_path, block.page, block.metadata)
        for block in blocks
    ]
    passage = _measured(pieces, tokens)
    return passage if passage.tokens <= settings.tokens else None


def _passages(
    blocks: Sequence[Block], settings: ChunkSettings, tokens: TokenCount
) -> Iterator[_Passage]:
    for section in _merged(_sections(blocks, settings, tokens), settings.tokens, tokens):
        yield from _Packer(settings, tokens).pack(section)


def _is_alone(block: Block) -> bool:
    """Records that name or describe themselves are documents of their own."""
    return block.kind is BlockKind.RECORD and bool(block.metadata or block.heading_path)


def _sections(
    blocks: Sequence[Block], settings: ChunkSettings, tokens: TokenCount
) -> Iterator[_Section]:
    cutter = Cutter(tokens, settings.tokens, settings.overlap)
    depth = _common_depth([block.heading_path for block in blocks]) + 1
    section: _Section | None = None
    path: tuple[str, ...] | None = None
    above = 0
    for block in blocks:
        heading = block.kind is BlockKind.HEADING
        alone = _is_alone(block)
        # Headings that follow each other open one section together.
        follows = above > 0
        if section is None or (not follows and (heading or alone or block.heading_path != path)):
            if section is not None:
                yield section
            section = _Section(block.heading_path[:depth], alone)
        section.alone = section.alone or alone
        path = block.heading_path
        pieces = list(cutter.pieces(block, above))
        section.add(pieces)
        above = above + sum(piece.tokens for piece in pieces) if heading else 0
    if section is not None:
        yield section


def _common_depth(paths: Sequence[tuple[str, ...]]) -> int:
    """How many outermost headings all blocks stand under."""
    first, last = min(paths, default=()), max(paths, default=())
    return next(
        (depth for depth, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )


def _merged(sections: Iterator[_Section], limit: int, tokens: TokenCount) -> Iterator[_Section]:
    """Small sections put to their neighbours; across top headings only where both fit a passage.

    A section of a line or two is never a passage of its own if it has a neighbour.
    """
    small, tiny = limit // 4, limit // 8
    current: _Section | None = None
    for section in sections:
        if current is None:
            current = section
            continue
        have, more = current.tokens, section.tokens
        fits = have + more + tokens.block_gap + tokens.marks <= limit
        near = section.key == current.key
        joins = (
            min(have, more) < tiny
            or (near and (fits or min(have, more) < small))
            or (fits and min(have, more) < small)
        )
        if joins and not (current.alone or section.alone):
            current.add(section.pieces)
        else:
            yield current
            current = section
    if current is not None:
        yield current


class _Packer:
    """Fills passages with pieces, evenly: no passage is left with the crumbs."""

    def __init__(self, settings: ChunkSettings, tokens: TokenCount) -> None:
        self._limit = settings.tokens
        self._overlap = settings.overlap
        self._tokens = tokens
        self._repeated: Piece | None = None

    def pack(self, section: _Section) -> Iterator[_Passage]:
        waiting = deque(_bundles(section.pieces))
        left = sum(self._cost(bundle) for bundle in waiting)
        room = max(1, self._limit - self._tokens.marks)
        records = all(piece.kind is BlockKind.RECORD for piece in section.pieces)
        while waiting:
            aim = left / max(1, -(-left // room))
            # Rows of a table are found best when few share a passage.
            bundles = self._fill(waiting, min(aim, room / 4) if records else aim, room)
            passage = self._checked(bundles, waiting)
            left -= sum(self._cost(bundle) for bundle in bundles)
            yield passage

    def _fill(self, waiting: deque[list[Piece]], aim: float, room: int) -> list[list[Piece]]:
        first = waiting.popleft()
        passage = [first]
        used = self._cost(first)
        repeated = self._repeated
        if repeated is not None and used + repeated.tokens + self._tokens.block_gap > room:
            self._repeated = repeated = None
        used += repeated.tokens + self._tokens.block_gap if repeated else 0
        if first[0].header and first[0].text != first[0].header:
            used += self._tokens.of(first[0].header)
        while waiting:
            cost = self._cost(waiting[0])
            if used + cost > room or used + cost / 2 > aim:
                break
            used += cost
            passage.append(waiting.popleft())
        return passage

    def _checked(self, bundles: list[list[Piece]], waiting: deque[list[Piece]]) -> _Passage:
        """What of it really fits: tokens of parts do not always add up. The rest goes back."""
        while True:
            passage = self._measured([piece for bundle in bundles for piece in bundle])
            if passage.tokens <= self._limit:
                break
            if self._repeated is not None:
                self._repeated = None
            elif len(bundles) > 1:
                waiting.appendleft(bundles.pop())
            elif len(bundles[0]) > 1:
                waiting.appendleft([bundles[0].pop()])
            else:
                # One piece fits by itself, without a header before it.
                passage = _measured(bundles[0], self._tokens)
                break
        self._repeated = self._tail(passage.pieces) if self._overlap and waiting else None
        return passage

    def _measured(self, pieces: list[Piece]) -> _Passage:
        return _measured(self._with_repeats(pieces), self._tokens)

    def _with_repeats(self, pieces: list[Piece]) -> list[Piece]:
        """The pieces behind what the passage repeats: the end of the last one, a table's header."""
        first = pieces[0]
        if first.header and first.text != first.header:
            header = Piece(
                BlockKind.TABLE,
                first.header,
                0,
                path=first.path,
                page=first.page,
                header=first.header,
            )
            pieces = [header, *pieces]
        return [self._repeated, *pieces] if self._repeated is not None else pieces

    def _tail(self, pieces: list[Piece]) -> Piece | None:
        """The last sentences of a passage, or the last words, within the overlap."""
        last = pieces[-1]
        if last.kind in (BlockKind.RECORD, BlockKind.TABLE, BlockKind.CODE):
            return None
        text = _text(pieces)
        kept = ""
        for start, _ in reversed(split_sentences(text)[1:]):
            if self._tokens.of(text[start:]) > self._overlap:
                break
            kept = text[start:]
        words = text.split()
        while not kept and len(words) > 1:
            # Halves until it fits; a word of the passage always stays out.
            words = words[-(len(words) // 2) :]
            if self._tokens.of(" ".join(words)) <= self._overlap:
                kept = " ".join(words)
        if not kept:
            return None
        tokens = self._tokens.of(kept)
        return Piece(last.kind, kept, tokens, path=last.path, page=last.page)

    def _cost(self, bundle: list[Piece]) -> int:
        gaps = sum(piece.gap == BLOCK_GAP for piece in bundle) * self._tokens.block_gap
        rows = sum(piece.gap == "\n" for piece in bundle)
        return sum(piece.tokens for piece in bundle) + gaps + rows


def _bundles(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Headings with what stands under them."""
    bundle: list[Piece] = []
    for piece in pieces:
        bundle.append(piece)
        if not piece.is_heading:
            yield bundle
            bundle = []
    if bundle:
        yield bundle


def _text(pieces: Sequence[Piece]) -> str:
    first, *rest = pieces
    return first.text + "".join(piece.gap + piece.text for piece in rest)


def _measured(pieces: list[Piece], tokens: TokenCount) -> _Passage:
    text = _text(pieces)
    return _Passage(pieces, text, tokens.count(text))


def _chunk(ordinal: int, passage: _Passage) -> ChunkText:
    pieces, text = passage.pieces, passage.text
    spans: list[tuple[int, int]] = []
    position = -len(pieces[0].gap)
    for piece in pieces:
        position += len(piece.gap)
        spans += ((position + start, position + end) for start, end in piece.quotes())
        position += len(piece.text)
    bodies = [piece for piece in pieces if piece.kind is not BlockKind.HEADING] or pieces
    paths = [piece.path for piece in bodies]
    path = paths[0][: _common_depth(paths)] or paths[0]
    metadata = bodies[0].metadata
    return ChunkText(
        ordinal=ordinal,
        text=text,
        heading=HEADING_MARK.join(path),
        page=pieces[0].page,
        tokens=passage.tokens,
        sentences=tuple(spans) or ((0, len(text)),),
        metadata=metadata if all(piece.metadata == metadata for piece in bodies) else {},
    )
