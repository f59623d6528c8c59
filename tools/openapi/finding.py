"""The operations of a document where they stand, with what makes some of them unreadable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.openapi.document import Document
from tools.openapi.faults import Unservable
from tools.operations import METHODS

LONGEST_PATH: Final = 1000


@dataclass(frozen=True, slots=True)
class Found:
    """An operation where it stands in the document; `fault` says why it cannot be read at all."""

    key: str
    item: Mapping[str, Any]
    node: Mapping[str, Any]
    fault: str = ""

    @property
    def operation_id(self) -> str:
        """The name that the document gives it; empty when it gives none."""
        stated = self.node.get("operationId")
        return stated if isinstance(stated, str) else ""


def find(document: Document) -> Iterator[Found]:
    """Every operation, also those that are none on a closer look."""
    paths = document.root.get("paths")
    for path, stated in paths.items() if isinstance(paths, Mapping) else ():
        if path.startswith("x-"):
            continue
        try:
            item = document.resolved(stated, f"The path {path[:200]}")
        except Unservable as fault:
            yield Found(f"* {path[:LONGEST_PATH]}", {}, {}, str(fault))
            continue
        more = item.get("additionalOperations")
        known = {key: item[key] for key in item if key.upper() in METHODS}
        for method, node in {**known, **(more if isinstance(more, Mapping) else {})}.items():
            yield _one(f"{method.upper()[:20]} {path[:LONGEST_PATH]}", path, item, node)


def _one(key: str, path: str, item: Mapping[str, Any], node: Any) -> Found:
    method = key.partition(" ")[0]
    fault = ""
    if method not in METHODS:
        fault = f"{method} is not a method that can be sent. Use one of {', '.join(METHODS)}."
    elif not isinstance(node, Mapping):
        fault = "It is not an object. Correct the document."
    elif not path.startswith("/") or len(path) > LONGEST_PATH or not path.isprintable():
        fault = "Its path must start with a slash and be printable. Correct the document."
    return Found(key, item, node if isinstance(node, Mapping) else {}, fault)
