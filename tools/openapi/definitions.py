"""The schemas that a document's references lead to: each cleaned once, named, freed of endless loops."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from tools.openapi.cleaning import Cleaner, Direction
from tools.openapi.document import Document, steps
from tools.openapi.faults import Unservable
from tools.openapi.loops import Loops
from tools.openapi.walking import references

LONGEST_NAME: Final = 64
# Each is run for every value; what doubles at each level would never end.
HEAVIEST: Final = 5_000
_PLAIN_HOMES: Final = (["components", "schemas"], ["definitions"])


class Definitions:
    """Definitions by name, for values that travel in one direction."""

    def __init__(self, document: Document, direction: Direction) -> None:
        self._document = document
        self._direction = direction
        self._pointers: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._cleaned: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._needs: dict[str, list[str]] = {}
        self._notes: dict[str, tuple[str, ...]] = {}
        self._loops = Loops(self._raw)

    def clean(self, schema: Any) -> tuple[Any, tuple[str, ...]]:
        """`schema` with references to definitions, and notes on what was left out of it."""
        cleaner = Cleaner(self._name_of, self._hidden)
        return cleaner.clean(schema), tuple(cleaner.notes)

    def get(self, name: str) -> Any:
        """The definition of that name.

        Raises:
            Unservable: its schema cannot be used.
        """
        if self._loops.weight(name) > HEAVIEST:
            raise Unservable(f"The schema {name} includes others too many times. Simplify it.")
        return self._loops.opened(name)

    def size(self, name: str) -> int:
        """How many bytes the definition takes."""
        if name not in self._sizes:
            self._sizes[name] = len(orjson.dumps(self.get(name))) + len(name)
        return self._sizes[name]

    def notes(self, names: Iterable[str]) -> list[str]:
        """What was left out of these definitions."""
        listed = list(names)
        cut = [name for name in listed if name in self._loops.cut]
        loops = [f"The schema {name} includes itself; that part was left out." for name in cut]
        return [*loops, *(note for name in listed for note in self._notes.get(name, ()))]

    def reached(self, root: Any, room: int) -> tuple[list[str], list[str]]:
        """The names of the definitions that `root` needs, the nearest first, as far as they fit.

        The second list has those that are referred to, but are beyond the `room` in bytes; what
        they need in turn is not looked for.
        """
        within: dict[str, None] = {}
        beyond: dict[str, None] = {}
        level = references(root)
        while level:
            following: dict[str, None] = {}
            for name in level:
                if name in within or name in beyond:
                    continue
                room -= self.size(name)
                (within if room >= 0 else beyond)[name] = None
                if room >= 0:
                    following.update(dict.fromkeys(self._references(name)))
            level = list(following)
        return list(within), list(beyond)

    def _references(self, name: str) -> list[str]:
        if name not in self._needs:
            self._needs[name] = list(dict.fromkeys(references(self.get(name))))
        return self._needs[name]

    def behind(self, schema: Any) -> Any:
        """`schema`, or the definition it stands for when it is a mere reference."""
        for _ in range(20):
            names = (
                references(schema) if isinstance(schema, dict) and set(schema) == {"$ref"} else []
            )
            if not names:
                return schema
            schema = self.get(names[0])
        raise Unservable("A schema is nothing but references to references. Correct the document.")

    def _raw(self, name: str) -> Any:
        if name not in self._cleaned:
            pointer = self._pointers[name]
            self._cleaned[name], self._notes[name] = self.clean(self._document.at(pointer))
        return self._cleaned[name]

    def _name_of(self, pointer: Any) -> str:
        if isinstance(pointer, str) and pointer in self._names:
            return self._names[pointer]
        self._document.at(pointer)
        path = steps(pointer)
        last = path[-1] if path else "Document"
        name = re.sub(r"[^A-Za-z0-9_]+", "_", last).strip("_")[:LONGEST_NAME]
        digest = hashlib.sha256(pointer.encode()).hexdigest()
        if name != last or path[:-1] not in _PLAIN_HOMES:
            name = f"{name[: LONGEST_NAME - 7]}_{digest[:6]}"
        if self._pointers.get(name, pointer) != pointer:
            name = f"{name[: LONGEST_NAME - 17]}_{digest[:16]}"
        self._pointers[name] = pointer
        self._names[pointer] = name
        return name

    def _hidden(self, schema: Any) -> bool:
        """Whether a property travels the other way only."""
        if not isinstance(schema, dict):
            return False
        if "$ref" in schema and self._direction.value not in schema:
            try:
                schema = self._document.resolved(schema, "A property")
            except Unservable:
                return False
        return schema.get(self._direction.value) is True
