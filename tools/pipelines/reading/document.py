"""What reading a document gives, and the limits that keep one document from eating a worker."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, Final

MOST_CHARACTERS: Final = 5_000_000
MOST_BLOCKS: Final = 200_000
MOST_NOTES: Final = 20
LONGEST_TITLE: Final = 500
LONGEST_METADATA: Final = 2_000
LONGEST_HEADING: Final = 300

# Control characters but tab and line feed, halves of surrogate pairs, and marks without width that
# only tell where a word may be broken. The joiners of emoji and of Persian stay.
_NO_TEXT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u00ad\u200b\ufeff]")
_LINE_ENDS: Final = re.compile(r"\r\n?|\u2028|\u2029|\x85|\x0b|\x0c")
_SPACES: Final = re.compile(r"[^\S\n]+")


class UnreadableDocument(Exception):
    """A document cannot be read. The message tells the operator why."""


class BlockKind(StrEnum):
    """What a part of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a document, in its order.

    `heading_path` names the headings it stands under, outermost first; a heading's own path ends
    with itself. The first line of a table is its header. `metadata` is what a record says of itself.
    """

    kind: BlockKind
    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as text with its structure.

    `title` is empty when the document names none. `notes` tells the operator what was left out.
    """

    title: str
    metadata: Mapping[str, Any]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()


def clean(text: str) -> str:
    """`text` in one Unicode form, with plain line ends and without characters no database keeps."""
    return unicodedata.normalize("NFC", _NO_TEXT.sub("", _LINE_ENDS.sub("\n", text)))


def one_line(text: str) -> str:
    """`text` cleaned, with every run of white space as one space."""
    return " ".join(clean(text).split())


def tidy(text: str) -> str:
    """`text` cleaned, its lines kept, without spaces that show nothing."""
    lines = [_SPACES.sub(" ", line).strip() for line in clean(text).split("\n")]
    return "\n".join(lines).strip()


def plain_metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that can be kept beside passages: short texts, numbers, dates and lists of them."""
    kept: dict[str, Any] = {}
    for key, value in values.items():
        plain = _plain(value)
        if plain not in (None, "", []):
            kept[one_line(str(key))[:100]] = plain
    return kept


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        # Larger numbers do not survive JSON.
        return value if abs(value) < 2**63 else None
    if isinstance(value, list | tuple):
        parts = [_plain(part) for part in value[:100] if not isinstance(part, list | tuple)]
        return [part for part in parts if part not in (None, "")]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return one_line(value)[:LONGEST_METADATA] if isinstance(value, str) else None


def has_ending(name: str, *endings: str) -> bool:
    return PurePosixPath(name.casefold()).suffix in endings


class Notes:
    """What the operator is told, once each and only the first few."""

    def __init__(self) -> None:
        self._kept: dict[str, None] = {}
        self._more = 0

    def add(self, note: str) -> None:
        if note in self._kept:
            return
        if len(self._kept) < MOST_NOTES:
            self._kept[note] = None
        else:
            self._more += 1

    def all(self) -> tuple[str, ...]:
        more = (f"... and {self._more} more.",) if self._more else ()
        return (*self._kept, *more)


class Collector:
    """Takes the blocks of one document in order, and stops at the limits.

    Readers ask `full` now and then and may stop; what comes after is dropped either way.
    """

    def __init__(self, notes: Notes | None = None) -> None:
        self.notes = notes or Notes()
        self.full = False
        self._blocks: list[Block] = []
        self._headings: list[tuple[int, str]] = []
        self._characters = 0

    @property
    def empty(self) -> bool:
        return not self._blocks

    def heading(self, level: int, text: str, page: int | None = None) -> None:
        text = one_line(text)
        if not text:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, text[:LONGEST_HEADING]))
        self._add(Block(BlockKind.HEADING, text, self._path(), page))

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        page: int | None = None,
        path: tuple[str, ...] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Take a block; `path` when it does not stand under the last heading."""
        text = clean(text).strip("\n") if kind is BlockKind.CODE else tidy(text)
        if text.strip():
            where = self._path() if path is None else path
            self._add(Block(kind, text, where, page, metadata or {}))

    def table(self, rows: list[list[str]], page: int | None = None) -> None:
        """Take a table; its first row is the header."""
        lines = [" | ".join(one_line(cell) for cell in row) for row in rows]
        kept = [line for line in lines if line.replace("|", "").strip()]
        self.add(BlockKind.TABLE, "\n".join(kept), page=page)

    def record(self, text: str, title: str = "", metadata: Mapping[str, Any] | None = None) -> None:
        """Take a record, which stands under its own title or under none."""
        self._headings.clear()
        self.heading(1, title)
        self.add(BlockKind.RECORD, text, metadata=metadata)

    def _path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)

    def _add(self, block: Block) -> None:
        if self.full:
            return
        room = MOST_CHARACTERS - self._characters
        if len(block.text) > room or len(self._blocks) >= MOST_BLOCKS:
            self.full = True
            self.notes.add(
                f"Only the first part was read: a document has at most {MOST_CHARACTERS:,} "
                f"characters and {MOST_BLOCKS:,} parts."
            )
            if len(self._blocks) >= MOST_BLOCKS:
                return
            cut = block.text[:room].rstrip()
            block = Block(block.kind, cut, block.heading_path, block.page, block.metadata)
            if not cut:
                return
        self._characters += len(block.text)
        self._blocks.append(block)

    def document(self, title: str = "", metadata: Mapping[str, Any] | None = None) -> ReadDocument:
        """All of it.

        A first heading that says what the title says is taken out: every passage carries the title.

        Raises:
            UnreadableDocument: nothing was taken.
        """
        title = one_line(title)[:LONGEST_TITLE]
        blocks = self._blocks
        if not blocks and title:
            blocks = [Block(BlockKind.PARAGRAPH, title)]
        if not blocks:
            raise UnreadableDocument("There is no text in this document.")
        title, blocks = _without_title(title, blocks)
        return ReadDocument(title, plain_metadata(metadata or {}), tuple(blocks), self.notes.all())


def _without_title(title: str, blocks: list[Block]) -> tuple[str, list[Block]]:
    first = blocks[0]
    named = first.text if first.kind is BlockKind.HEADING and len(first.heading_path) == 1 else ""
    over_all = named and all(block.heading_path[:1] == first.heading_path for block in blocks)
    if not over_all or len(blocks) == 1 or len(named) > LONGEST_HEADING:
        return title, blocks
    if title and title.casefold() != named.casefold():
        return title, blocks
    rest = [
        Block(block.kind, block.text, block.heading_path[1:], block.page, block.metadata)
        for block in blocks[1:]
    ]
    return title or named, rest
