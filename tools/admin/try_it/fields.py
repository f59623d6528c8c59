"""The form for a tool's arguments: built from its schema, filled from flat data, read back as JSON.

The flat data is what a browser sends: texts by the address of the argument (`a/filter/limit`), and
for each list the numbers of its rows under `rows:` and the address. What is already known as JSON
is made flat first, so there is one way only into the form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from tools.admin.json_fields import pretty
from tools.admin.try_it import hints
from tools.admin.try_it.beginnings import MOST_PARTS, Beginnings
from tools.admin.try_it.json_text import parse
from tools.admin.try_it.kinds import Kind, choices, kind_of, plain

Flat = Mapping[str, Sequence[str]]
ROOT: Final = "a"
ROWS: Final = "rows:"
# Stands for the number of a row that is still to be added, by its depth.
ROW: Final = "__row{}__"
DEEPEST_ROWS: Final = 4
LONGEST_NUMBER: Final = 6
MOST_FIELDS: Final = MOST_PARTS
# A form that was sent has grown by rows, each of them with more values than it sends.
MOST_SENT: Final = 2000


class _Missing:
    """Stands for an argument that is not sent."""


MISSING: Final = _Missing()


@dataclass
class Field:
    """One argument, or a part of one, with its control and what is in it."""

    address: str
    path: tuple[str, ...]
    kind: Kind
    schema: Mapping[str, Any]
    required: bool
    value: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    options: list[tuple[str, str]] = field(default_factory=list)
    children: list[Field] = field(default_factory=list)
    blank: Field | None = None
    error: str = ""

    @property
    def id(self) -> str:
        return quote(self.address, safe="/:")

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def row_number(self) -> str:
        return self.address.rsplit("/", 1)[-1]

    @property
    def title(self) -> str:
        said = str(self.schema.get("title") or "")
        # Generated schemas repeat the name.
        return "" if said.replace(" ", "_").lower() == self.name.lower() else said

    @property
    def help(self) -> str:
        return hints.words(self.schema)

    @property
    def token(self) -> str:
        """What stands for the number of a new row in `blank`."""
        return "" if self.blank is None else self.blank.row_number

    @property
    def empty(self) -> bool:
        """Whether nothing was filled in."""
        if self.kind in {Kind.OBJECT, Kind.LIST}:
            return all(child.empty for child in self.children)
        return not self.value.strip()

    def walk(self) -> list[Field]:
        """This field and all within it."""
        return [self, *(one for child in self.children for one in child.walk())]


def build(schema: Any, flat: Flat, most: int = MOST_FIELDS) -> Field:
    """The form for a tool's arguments with what `flat` has in it; of more than `most` fields, one JSON text."""
    try:
        return _Builder(schema, flat, most).build(schema, (), ROOT, required=True, depth=0)
    except _TooMany:
        return Field(ROOT, (), Kind.JSON, plain(schema, schema), required=True)


class _TooMany(Exception):
    """The form has more fields than anybody wants."""


class _Builder:
    """Makes fields of one schema."""

    def __init__(self, root: Any, flat: Flat, most: int) -> None:
        self._root = root
        self._flat = flat
        self._left = most

    def build(
        self, schema: Any, path: tuple[str, ...], address: str, *, required: bool, depth: int
    ) -> Field:
        self._left -= 1
        if self._left < 0:
            raise _TooMany
        known = plain(schema, self._root)
        kind = kind_of(path[-1] if path else "", known, depth)
        made = Field(address, path, kind, known, required)
        made.value = next(iter(self._flat.get(address, ())), "")
        match kind:
            case Kind.OBJECT:
                made.children = self._properties(made, depth)
            case Kind.LIST:
                made.children = self._rows(made, depth)
                if depth < DEEPEST_ROWS:
                    made.blank = self._blank(made, depth)
            case Kind.CHOICE:
                made.options = _options(known)
            case Kind.NUMBER:
                made.attributes = hints.number_attributes(known)
            case Kind.LINE:
                made.attributes = hints.line_attributes(known)
            case Kind.LONG:
                made.attributes = hints.length_attributes(known)
        return made

    def _properties(self, parent: Field, depth: int) -> list[Field]:
        wanted = parent.schema.get("required")
        names = set(wanted) if isinstance(wanted, list) else set()
        return [
            self.build(
                schema,
                (*parent.path, name),
                f"{parent.address}/{_escaped(name)}",
                required=name in names,
                depth=depth + 1,
            )
            for name, schema in parent.schema["properties"].items()
        ]

    def _rows(self, parent: Field, depth: int) -> list[Field]:
        numbers = self._flat.get(ROWS + parent.address, ())
        return [self._row(parent, number, depth) for number in numbers if is_row(number)]

    def _blank(self, parent: Field, depth: int) -> Field:
        """A row that is still to be added, with its defaults."""
        number, items = ROW.format(depth), parent.schema["items"]
        begun = _Flattener(self._root, begun=True)
        value = Beginnings(self._root).of(items, number, depth + 1)
        begun.add(items, value, number, f"{parent.address}/{number}", depth + 1)
        kept, self._flat = self._flat, begun.flat
        made = self._row(parent, number, depth)
        self._flat = kept
        return made

    def _row(self, parent: Field, number: str, depth: int) -> Field:
        address = f"{parent.address}/{number}"
        path = (*parent.path, number)
        return self.build(parent.schema["items"], path, address, required=True, depth=depth + 1)


def is_row(number: str) -> bool:
    """Whether `number` is one that the form gave to a row."""
    return len(number) <= LONGEST_NUMBER and number.isascii() and number.isdecimal()


def read(one: Field) -> Any:
    """The value of a field as JSON, or MISSING; what is wrong with it is noted in its `error`."""
    match one.kind:
        case Kind.OBJECT:
            if not one.required and one.empty:
                return MISSING
            found = {child.name: read(child) for child in one.children}
            return {name: value for name, value in found.items() if value is not MISSING}
        case Kind.LIST:
            return _read_rows(one)
        case Kind.LINE | Kind.LONG:
            text = one.value.replace("\r\n", "\n")
            return text if text or one.required else MISSING
        case Kind.NUMBER:
            return _read_number(one)
        case _:
            return _read_json(one)


def _read_rows(one: Field) -> Any:
    if not one.children and not one.required:
        return MISSING
    rows = [read(child) for child in one.children]
    for child, value in zip(one.children, rows, strict=True):
        if value is MISSING and not child.error:
            child.error = "Fill this row in, or remove it."
    return [value for value in rows if value is not MISSING]


def _read_number(one: Field) -> Any:
    text = one.value.strip()
    if not text:
        return MISSING
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if type(value) not in {int, float} or not math.isfinite(value):
        one.error = "This is not a number."
        return MISSING
    return value


def _read_json(one: Field) -> Any:
    if not one.value.strip():
        return MISSING
    value, one.error = parse(one.value)
    return MISSING if one.error else value


def flatten(schema: Any, arguments: Any, *, begun: bool = False) -> dict[str, list[str]]:
    """`arguments` as a browser would send them. In those that are only `begun`, None is still empty."""
    flattener = _Flattener(schema, begun=begun)
    flattener.add(schema, arguments, "", ROOT, 0)
    return flattener.flat


class _Flattener:
    """Makes values of one schema flat."""

    def __init__(self, root: Any, *, begun: bool) -> None:
        self._root = root
        self._begun = begun
        self.flat: dict[str, list[str]] = {}

    def add(self, schema: Any, value: Any, name: str, address: str, depth: int) -> None:
        if self._begun and value is None:
            return
        known = plain(schema, self._root)
        kind = kind_of(name, known, depth)
        if kind is Kind.OBJECT and isinstance(value, Mapping):
            for key, inner in known["properties"].items():
                if key in value:
                    self.add(inner, value[key], key, f"{address}/{_escaped(key)}", depth + 1)
        elif kind is Kind.LIST and isinstance(value, list):
            self.flat[ROWS + address] = [str(number) for number in range(len(value))]
            for number, inner in enumerate(value):
                self.add(known["items"], inner, str(number), f"{address}/{number}", depth + 1)
        elif kind in {Kind.LINE, Kind.LONG}:
            self.flat[address] = ["" if value is None else str(value)]
        elif kind is Kind.JSON:
            self.flat[address] = [pretty(value)]
        else:
            self.flat[address] = [json.dumps(value)]


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are; Python takes true for 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _options(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """As JSON, so that 1 and "1" stay apart, and how each is shown."""
    return [
        (json.dumps(one), one if isinstance(one, str) and one else json.dumps(one))
        for one in choices(schema)
    ]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
