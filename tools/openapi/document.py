"""An API document as read: its tree, its version, and what its references lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from tools.openapi.faults import Unservable

MOST_HOPS: Final = 20


@dataclass(frozen=True, slots=True)
class Document:
    """The tree of an OpenAPI or Swagger document; `version` is the one that it states."""

    root: Mapping[str, Any]
    version: str

    @property
    def is_swagger(self) -> bool:
        """Whether it has the shape of Swagger 2."""
        return self.version.startswith("2")

    def part(self, *keys: str) -> Mapping[str, Any]:
        """The object below `keys`; empty when there is none."""
        found: Any = self.root
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    def at(self, reference: Any) -> Any:
        """What a `$ref` leads to.

        Raises:
            Unservable: it leads out of the document, or to nothing.
        """
        if not isinstance(reference, str):
            raise Unservable("A $ref is not a text. Correct the document.")
        if reference != "#" and not reference.startswith("#/"):
            raise Unservable(
                f"It refers to {reference[:200]}, and only references within the document are "
                "followed. Bundle the document into one file."
            )
        target: Any = self.root
        for step in steps(reference):
            if isinstance(target, dict) and step in target:
                target = target[step]
            elif isinstance(target, list) and step.isdecimal() and int(step) < len(target):
                target = target[int(step)]
            else:
                raise Unservable(
                    f"It refers to {reference[:200]}, which is not in the document. Correct the document."
                )
        return target

    def resolved(self, node: Any, what: str) -> Mapping[str, Any]:
        """`node` with its references followed; what stands beside a `$ref` goes first.

        Raises:
            Unservable: it is no object, or its references lead nowhere.
        """
        beside: dict[str, Any] = {}
        for _ in range(MOST_HOPS):
            if not isinstance(node, dict):
                raise Unservable(f"{what} is not an object. Correct the document.")
            if "$ref" not in node:
                return {**node, **beside} if beside else node
            beside = {**{key: node[key] for key in node if key != "$ref"}, **beside}
            node = self.at(node["$ref"])
        raise Unservable(f"{what} is a loop of references. Correct the document.")


def steps(reference: str) -> list[str]:
    """The keys along a reference such as `#/components/schemas/Pet`."""
    parts = reference.split("/")[1:]
    return [unquote(part).replace("~1", "/").replace("~0", "~") for part in parts]
