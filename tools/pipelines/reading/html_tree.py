"""Ways through the tree of a page that do not depend on how deep it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from selectolax.lexbor import LexborNode
from typing_extensions import override

from tools.pipelines.reading.document import one_line

_UNSEEN: Final = frozenset(("script", "style", "noscript", "template"))


class Visitor(ABC):
    """Is led through a tree."""

    @abstractmethod
    def enter(self, node: LexborNode) -> bool:
        """Whether to go into the node."""

    @abstractmethod
    def leave(self, node: LexborNode) -> None:
        """The node and all within is done, entered or not."""


def visit(root: LexborNode, visitor: Visitor) -> None:
    """Lead `visitor` through `root` in the order of the page."""
    node, end = root, root.mem_id
    while True:
        child = node.first_child if visitor.enter(node) else None
        if child is not None:
            node = child
            continue
        while True:
            visitor.leave(node)
            if node.mem_id == end:
                return
            following = node.next
            if following is not None:
                node = following
                break
            above = node.parent
            if above is None:
                return
            node = above


class _Gatherer(Visitor):
    def __init__(self) -> None:
        self.parts: list[str] = []

    @override
    def enter(self, node: LexborNode) -> bool:
        if node.tag == "-text":
            self.parts.append(node.text_content or "")
        elif node.tag in ("br", "p", "div", "li"):
            self.parts.append("\n")
        return node.tag not in _UNSEEN

    @override
    def leave(self, node: LexborNode) -> None:
        pass


def text_within(root: LexborNode) -> str:
    """All text in a node, with its line breaks."""
    gatherer = _Gatherer()
    visit(root, gatherer)
    return "".join(gatherer.parts)


class _TableReader(Visitor):
    def __init__(self) -> None:
        self.caption = ""
        self.rows: list[list[str]] = []

    @override
    def enter(self, node: LexborNode) -> bool:
        if node.tag == "tr":
            self.rows.append([])
        elif node.tag in ("td", "th") and self.rows:
            self.rows[-1].append(one_line(text_within(node)))
            return False
        elif node.tag == "caption":
            self.caption = one_line(text_within(node))
            return False
        return True

    @override
    def leave(self, node: LexborNode) -> None:
        pass


def read_table(table: LexborNode) -> tuple[str, list[list[str]]]:
    """The caption of a table and the texts of its cells, row by row."""
    reader = _TableReader()
    visit(table, reader)
    return reader.caption, reader.rows
