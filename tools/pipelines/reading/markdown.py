"""Markdown: headings, lists, tables and code as blocks, inline marks taken off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from typing_extensions import override

from tools.pipelines.reading.document import BlockKind, Collector, ReadDocument
from tools.pipelines.reading.encodings import decode
from tools.pipelines.reading.html import visible_text
from tools.pipelines.reading.text import add_text

# Beyond these, text is read as it stands: the parser needs up to 0.2 ms for a line, and for marks that
# are never closed the square of their number.
MOST_LINES: Final = 50_000
LONGEST_INLINE: Final = 8_000
MOST_MARKS: Final = 400
_MARKS: Final = "*_`[]<>&\\!"
LONGEST_FRONT_MATTER: Final = 32_768
_FRONT_MATTER: Final = re.compile(r"---[^\S\n]*\n(.*?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.S)
_LEVELS: Final = {f"h{level}": level for level in range(1, 7)}


class _Loader(yaml.SafeLoader):
    """Without merges: merges of merges multiply while they are read."""

    @override
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.YAMLError("merges are not read")
        super().flatten_mapping(node)


def read_markdown(content: bytes) -> ReadDocument:
    metadata, text = _front_matter(decode(content))
    collector = Collector()
    lines = text.split("\n")
    _add_blocks(collector, _parser().parse("\n".join(lines[:MOST_LINES])))
    if len(lines) > MOST_LINES:
        collector.notes.add(f"From line {MOST_LINES:,} on it was read as plain text.")
        add_text(collector, "\n".join(lines[MOST_LINES:]))
    title = metadata.pop("title", "")
    return collector.document(title if isinstance(title, str) else "", metadata)


@cache
def _parser() -> MarkdownIt:
    # Inline marks are parsed one paragraph at a time, where it can be bounded.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _front_matter(text: str) -> tuple[dict[str, Any], str]:
    found = _FRONT_MATTER.match(text[:LONGEST_FRONT_MATTER])
    if found is None:
        return {}, text
    try:
        # The loader is SafeLoader and builds plain values only.
        values = yaml.load(found[1], Loader=_Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        values = None
    # A rule, then text, then a rule is no front matter.
    if not isinstance(values, Mapping):
        return {}, text
    return {str(key): value for key, value in values.items()}, text[found.end() :]


def _add_blocks(collector: Collector, tokens: list[Token]) -> None:
    """Blocks at the outermost level; what is inside a list or a table belongs to it."""
    position = 0
    while position < len(tokens) and not collector.full:
        token = tokens[position]
        end = _end_of(tokens, position)
        inside = tokens[position:end]
        if token.type == "heading_open":
            collector.heading(_LEVELS[token.tag], _text_of(inside))
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            _add_list(collector, inside)
        elif token.type == "table_open":
            collector.table(list(_rows(inside)))
        elif token.type in ("fence", "code_block"):
            collector.add(BlockKind.CODE, token.content)
        elif token.type == "html_block":
            collector.add(BlockKind.PARAGRAPH, visible_text(token.content))
        elif token.type == "paragraph_open":
            collector.add(BlockKind.PARAGRAPH, _text_of(inside))
        # A quotation is opened: its blocks are those of the document.
        position = position + 1 if token.type.startswith("blockquote") else max(end, position + 1)


def _end_of(tokens: list[Token], start: int) -> int:
    """The position behind the token that closes the one at `start`."""
    if tokens[start].nesting != 1:
        return start + 1
    for position in range(start + 1, len(tokens)):
        if tokens[position].nesting == -1 and tokens[position].level == tokens[start].level:
            return position + 1
    return len(tokens)


def _add_list(collector: Collector, tokens: list[Token]) -> None:
    """One block per run of items; code in a list is a block of its own."""
    lines: list[str] = []
    mark = ""

    def put_down() -> None:
        collector.add(BlockKind.LIST, "\n".join(lines))
        lines.clear()

    for token in tokens:
        if token.type == "list_item_open":
            mark = f"{token.info}{token.markup} " if token.info else "- "
        elif token.type == "inline":
            lines.append(mark + _inline(token.content).replace("\n", " "))
            mark = ""
        elif token.type in ("fence", "code_block"):
            put_down()
            collector.add(BlockKind.CODE, token.content)
    put_down()


def _rows(tokens: list[Token]) -> Iterator[list[str]]:
    row: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(_inline(token.content))
        elif token.type == "tr_close":
            yield row


def _text_of(tokens: list[Token]) -> str:
    return "\n".join(_inline(token.content) for token in tokens if token.type == "inline")


def _inline(source: str) -> str:
    """The text without its marks; as it stands where parsing the marks could take long."""
    marks = sum(source.count(mark) for mark in _MARKS)
    if not marks or marks > MOST_MARKS or len(source) > LONGEST_INLINE:
        return source
    parts: list[str] = []
    for token in _children(source):
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "image":
            parts.append(token.content)
    return "".join(parts)


def _children(source: str) -> list[Token]:
    children: list[Token] = []
    parser = _parser()
    parser.inline.parse(source, parser, {}, children)
    return children
