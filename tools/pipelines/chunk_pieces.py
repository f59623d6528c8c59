"""The pieces that passages are put together from: what a document is cut into where it must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from tools.pipelines.reading.document import Block, BlockKind
from tools.pipelines.sentences import split_sentences

BLOCK_GAP: Final = "\n\n"
# Longer ones are cut first without counting: counting would take as long as their length.
LONGEST_COUNTED: Final = 40
# One sentence for who quotes it, however many full stops are in it.
LONGEST_QUOTE: Final = 400
_WHOLE: Final = frozenset((BlockKind.CODE, BlockKind.RECORD))
_CUTS: Final = (re.compile(r"\n\n+"), re.compile(r"\n"), re.compile(r"\s+"))


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stays together. `gap` stands before it unless it opens the passage.

    `header` is that of the table it is a row of, repeated where a passage begins in its midst.
    """

    kind: BlockKind
    text: str
    tokens: int
    gap: str = BLOCK_GAP
    path: tuple[str, ...] = ()
    page: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    header: str = ""

    @property
    def is_heading(self) -> bool:
        """Whether it must not stand without what follows."""
        return self.kind is BlockKind.HEADING or (bool(self.header) and self.header == self.text)

    def quotes(self) -> list[tuple[int, int]]:
        """The spans in it that can be quoted on their own."""
        if self.is_heading:
            return []
        as_one = self.kind is BlockKind.TABLE or self.kind in _WHOLE
        if as_one and not self.is_whole_table and len(self.text) <= LONGEST_QUOTE:
            return [(0, len(self.text))]
        if self.kind in (BlockKind.TABLE, BlockKind.CODE):
            return _line_spans(self.text, skip=int(self.is_whole_table))
        return split_sentences(self.text)

    @property
    def is_whole_table(self) -> bool:
        return self.kind is BlockKind.TABLE and not self.header


def _line_spans(text: str, skip: int) -> list[tuple[int, int]]:
    """Runs of lines; the first `skip` lines are left out when others follow."""
    spans: list[tuple[int, int]] = []
    position = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        end = position + len(line)
        if line.strip() and (number >= skip or len(lines) == 1):
            spans.append((position, end))
        position = end + 1
    return spans


class TokenCount:
    """Counts tokens with as few calls as it can."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count

    @cached_property
    def marks(self) -> int:
        """What the counter adds to any text."""
        return self.count("")

    @cached_property
    def block_gap(self) -> int:
        """What an empty line between two texts costs."""
        return max(0, self.of(f"a{BLOCK_GAP}a") - 2 * self.of("a"))

    def of(self, text: str) -> int:
        """The tokens of `text` itself."""
        return max(0, self.count(text) - self.marks)


class Cutter:
    """Cuts blocks into pieces of at most `limit` tokens, as few as will do."""

    def __init__(self, tokens: TokenCount, limit: int, overlap: int) -> None:
        self._tokens = tokens
        self._limit = max(1, limit - tokens.marks)
        self._overlap = overlap
        # Smaller paragraphs move as a whole; overlaps are cut from sentences.
        self._small = 0 if overlap else limit // 3

    def pieces(self, block: Block, above: int) -> Iterator[Piece]:
        """The pieces of `block`; `above` tokens of headings stand over it."""
        room = self._limit - above if above <= self._limit // 2 else self._limit
        for piece in self._cut(block, max(1, room)):
            yield replace(piece, path=block.heading_path, page=block.page, metadata=block.metadata)

    def _cut(self, block: Block, room: int) -> Iterator[Piece]:
        kind, text = block.kind, block.text
        if len(text) <= LONGEST_COUNTED * self._limit:
            tokens = self._tokens.of(text)
            whole = kind in _WHOLE or kind is BlockKind.HEADING
            if tokens <= (room if whole else min(room, self._small)):
                yield Piece(kind, text, tokens)
                return
        if kind is BlockKind.TABLE:
            yield from self._rows(text, room)
        elif kind in (BlockKind.CODE, BlockKind.HEADING):
            yield from self._fitting(kind, text, room, BLOCK_GAP)
        else:
            yield from self._sentences(kind, text, room - self._overlap)

    def _sentences(self, kind: BlockKind, text: str, room: int) -> Iterator[Piece]:
        end = 0
        for start, stop in split_sentences(text):
            gap = text[end:start] if end else BLOCK_GAP
            yield from self._fitting(kind, text[start:stop], room, gap)
            end = stop

    def _rows(self, text: str, room: int) -> Iterator[Piece]:
        header, _, rest = text.partition("\n")
        cost = self._tokens.of(header)
        # A header that would fill the passages is not repeated.
        repeated = header if rest and cost <= room // 3 else ""
        yield from (
            replace(piece, header=repeated)
            for piece in self._fitting(BlockKind.TABLE, header, room, BLOCK_GAP)
        )
        for row in rest.split("\n") if rest else ():
            for number, piece in enumerate(
                self._fitting(BlockKind.TABLE, row, room - (cost + 2 if repeated else 0), "\n")
            ):
                yield replace(piece, header=repeated if not number else "")

    def _fitting(self, kind: BlockKind, text: str, room: int, gap: str) -> Iterator[Piece]:
        """`text` halved until it fits: at empty lines, lines, words or, if it must be, anywhere."""
        room = max(1, room)
        rest = [(gap, text)]
        while rest:
            before, part = rest.pop()
            if len(part) <= LONGEST_COUNTED * room or len(part) == 1:
                tokens = self._tokens.of(part)
                if tokens <= room or len(part) == 1:
                    yield Piece(kind, part, tokens, before)
                    continue
            left, between, right = _halves(part, by_lines=kind is BlockKind.CODE)
            rest += [(between, right), (before, left)]


def _halves(text: str, *, by_lines: bool) -> tuple[str, str, str]:
    """Two parts and the white space between them, cut near the middle."""
    middle = len(text) // 2
    window = max(1, len(text) // 4)
    for cut in _CUTS if by_lines else _CUTS[2:]:
        found = _nearest(cut, text, middle, window)
        if found is not None:
            return text[: found[0]], text[found[0] : found[1]], text[found[1] :]
    return text[:middle], "", text[middle:]


def _nearest(cut: re.Pattern[str], text: str, middle: int, window: int) -> tuple[int, int] | None:
    """The span of white space nearest the middle that leaves something on both sides."""
    best: tuple[int, int] | None = None
    nearest = window + 1
    for found in cut.finditer(text, middle - window, middle + window):
        distance = abs(found.start() - middle)
        if distance < nearest and found.start() > 0 and found.end() < len(text):
            best, nearest = found.span(), distance
    return best
