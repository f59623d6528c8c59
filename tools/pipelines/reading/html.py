"""HTML: what a reader of the page sees, as blocks."""

from __future__ import annotations

import html
import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode
from typing_extensions import override

from tools.pipelines.reading.document import (
    LONGEST_HEADING,
    BlockKind,
    Collector,
    ReadDocument,
    UnreadableDocument,
    one_line,
)
from tools.pipelines.reading.encodings import decode_html
from tools.pipelines.reading.html_tree import Visitor, read_table, text_within, visit

# A tree takes up to ninety times the memory of its markup.
MOST_MARKUP: Final = 8_000_000
# The parser's time grows with the square of the depth: 2 s at 16,000.
DEEPEST: Final = 2_000


def _tags(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_DRAWING: Final = re.compile(r"<(/?)(?:svg|math)\b", re.I)
_EMPTY_DRAWING: Final = re.compile(r"<(?:svg|math)\b[^<>]{0,1000}/>", re.I)
_ANY_TAG: Final = re.compile(r"<!--.*?(?:-->|\Z)|</?[a-zA-Z][^<>]*>", re.S)
_UNSEEN: Final = _tags(
    "head script style noscript template nav footer iframe object canvas audio video button "
    "select textarea input dialog"
)
_BLOCKS: Final = _tags(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption "
    "figure form header hgroup hr html legend li main ol option p pre section summary table "
    "tbody td tfoot th thead tr ul"
)
_LISTS: Final = frozenset(("ul", "ol", "dl"))
_SPACE: Final = re.compile(r"\s+")
_DEEPEST_LAYOUT: Final = 20
_LEVELS: Final = {f"h{level}": level for level in range(1, 7)}
# Never closed, or closed by what follows them: they do not nest.
_FLAT: Final = _tags(
    "area base br col embed hr img input link meta source track wbr p li td th tr dt dd "
    "option thead tbody tfoot html head body"
)


def read_html(content: bytes) -> ReadDocument:
    text = decode_html(content)
    collector = Collector()
    if len(text) > MOST_MARKUP:
        text = text[:MOST_MARKUP]
        collector.notes.add(f"Only the first {MOST_MARKUP:,} characters of the page were read.")
    text = _without_drawings(text)
    _check_depth(text)
    page = LexborHTMLParser(text)
    root = page.css_first("main") or page.css_first("[role=main]") or page.body
    if root is not None:
        _Walker(collector).walk(root)
    return collector.document(_title_of(page), _metadata_of(page))


def visible_text(markup: str) -> str:
    """The text of a piece of markup, without its tags."""
    return html.unescape(_ANY_TAG.sub(" ", markup))


def _without_drawings(text: str) -> str:
    """Drawings and formulas under a name that is not shown: their contents nest by other rules."""
    return _DRAWING.sub(r"<\1noscript", _EMPTY_DRAWING.sub("", text))


def _check_depth(text: str) -> None:
    depth = deepest = 0
    for closing, tag in _TAG.findall(text):
        if tag.lower() not in _FLAT:
            depth = max(0, depth + (-1 if closing else 1))
            deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise UnreadableDocument(f"The page's elements are nested more than {DEEPEST:,} deep.")


def _title_of(page: LexborHTMLParser) -> str:
    """The page's title; its only main heading where the title merely adds the site's name."""
    named = page.css_first("head title") or page.css_first("title")
    title = one_line(text_within(named)) if named is not None else ""
    headings = page.css("h1")
    heading = one_line(text_within(headings[0])) if len(headings) == 1 else ""
    if heading and len(heading) <= LONGEST_HEADING and heading.casefold() in title.casefold():
        return heading
    return title or heading


def _metadata_of(page: LexborHTMLParser) -> dict[str, str]:
    found = {}
    root = page.css_first("html")
    if root is not None and root.attributes.get("lang"):
        found["language"] = root.attributes["lang"] or ""
    for name in ("description", "author", "keywords"):
        node = page.css_first(f'meta[name="{name}"]')
        if node is not None:
            found[name] = node.attributes.get("content") or ""
    return found


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    style = (attributes.get("style") or "").replace(" ", "").casefold()
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role") == "navigation"
        or "display:none" in style
    )


class _Walker(Visitor):
    """Turns a tree into blocks: inline text is gathered until a block begins or ends."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._parts: list[str] = []
        self._items: list[str] = []
        self._lists = 0
        self._tables = 0
        self._mark = ""

    def walk(self, root: LexborNode) -> None:
        visit(root, self)
        self._end_paragraph()
        self._end_list()

    @override
    def enter(self, node: LexborNode) -> bool:
        tag = node.tag or ""
        if tag == "-text":
            self._parts.append(_SPACE.sub(" ", node.text_content or ""))
            return False
        if self._collector.full or not tag[:1].isalpha() or tag in _UNSEEN or _is_hidden(node):
            return False
        if tag in _LEVELS or tag == "pre":
            self._whole(node, tag)
            return False
        if tag == "table":
            return self._enter_table(node)
        if tag in _BLOCKS:
            self._end_paragraph()
            self._lists += tag in _LISTS
            self._mark = "- " if tag == "li" else self._mark
        elif tag == "br":
            self._parts.append("\n")
        elif tag == "img":
            self._parts.append(f" {node.attributes.get('alt') or ''} ")
        return True

    @override
    def leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _BLOCKS and tag not in _UNSEEN:
            self._end_paragraph()
        if tag == "table":
            self._tables = max(0, self._tables - 1)
        if tag in _LISTS and self._lists and not _is_hidden(node):
            self._lists -= 1
            if not self._lists:
                self._end_list()

    def _whole(self, node: LexborNode, tag: str) -> None:
        self._end_paragraph()
        self._end_list()
        if tag == "pre":
            self._collector.add(BlockKind.CODE, text_within(node))
        else:
            self._collector.heading(_LEVELS[tag], text_within(node))

    def _enter_table(self, node: LexborNode) -> bool:
        """Read a table, or go into one that only lays out the page."""
        self._end_paragraph()
        self._tables += 1
        inner = node.css("table") if self._tables < _DEEPEST_LAYOUT else []
        if any(table.mem_id != node.mem_id for table in inner):
            return True
        self._end_list()
        caption, rows = read_table(node)
        self._collector.add(BlockKind.PARAGRAPH, caption)
        self._collector.table(rows)
        return False

    def _end_paragraph(self) -> None:
        text = "".join(self._parts)
        self._parts.clear()
        if not text.strip():
            return
        if self._lists:
            self._items.append(self._mark + one_line(text))
            self._mark = ""
        else:
            self._collector.add(BlockKind.PARAGRAPH, text)

    def _end_list(self) -> None:
        self._collector.add(BlockKind.LIST, "\n".join(self._items))
        self._items.clear()
