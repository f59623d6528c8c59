"""Text that is being typed, judged by the rules of saving: what is wrong with it, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.core.exceptions import ValidationError

from tools.models import Tool
from tools.models.tool_rules import HEADER_MARK, with_required_listed
from tools.schemas import SchemaFault, object_schema_faults
from tools.schemas.accepted import default_faults
from tools.schemas.findings import Finding, definition_faults, hints, subschemas
from tools.schemas.syntax import Path, Place, Places, SyntaxFault, places_in, read_json

LONGEST_TEXT: Final = 1_000_000
MOST_TOLD: Final = 50
UNUSABLE: Final = "Not a usable JSON Schema"
SCHEMAS: Final = ("input_schema", "output_schema")

# Why saving would refuse a value.
Judge = Callable[[Any], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Told:
    """One thing to say of the text. What is not grave does not keep it from being saved."""

    message: str
    place: Place | None = None
    pointer: str = ""
    grave: bool = True


@dataclass(frozen=True, slots=True)
class Checked:
    """What there is to say, and the value when saving would take it."""

    told: Sequence[Told]
    sound: bool
    value: Any = None


def check_text(text: str, judge: Judge, *, schema: bool = False) -> Checked:
    """Read `text` and let `judge` look at what it holds."""
    if len(text) > LONGEST_TEXT:
        long = "This is too long to be checked while you type. It is checked when you save."
        return Checked([Told(long, grave=False)], sound=False)
    try:
        value = read_json(text)
    except SyntaxFault as fault:
        return Checked([Told(f"Not valid JSON: {fault}", fault.place)], sound=False)
    places = places_in(text)
    refused = list(judge(value))
    # Cut before places are looked for: a text can have a fault in every line.
    located = _Locator(value, places)
    found = [one for message in refused[:MOST_TOLD] for one in located.of(message)]
    if schema:
        found += hints(value)
    told = [_told(one, places) for one in list(dict.fromkeys(found))[:MOST_TOLD]]
    told += [
        Told(f'"{path[-1]}" is written twice; the last one counts.', places.at(at), grave=False)
        for path, at in places.twice[: MOST_TOLD - len(told)]
    ]
    return Checked(told, sound=not refused, value=None if refused else value)


def check_tool_schema(text: str, field: str) -> Checked:
    """The same for `field` of a tool, one of SCHEMAS; the value is as it would be saved."""
    checked = check_text(text, lambda value: tool_schema_faults(field, value), schema=True)
    return Checked(checked.told, checked.sound, with_required_listed(checked.value))


def tool_schema_faults(field: str, value: Any) -> list[str]:
    """Why no tool can be saved with `value`."""
    if field == "input_schema" and not value and value is not None:
        # Saving says that the field is required; this says what is missing.
        return object_schema_faults(value)
    tool = Tool(**{field: value})
    try:
        tool.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as fault:
        return list(fault.message_dict.get(field, []))
    return []


class _Locator:
    """Faults of the judge with their places, in words of their own where there are better ones."""

    def __init__(self, value: Any, places: Places) -> None:
        self._value = value
        self._places = places

    def of(self, message: str) -> list[Finding]:
        found: list[Finding | None] = []
        if message.startswith(UNUSABLE):
            found += definition_faults(with_required_listed(self._value))
        elif message.startswith("The default of "):
            found = [self._defaults.get(message)]
        elif HEADER_MARK in message:
            found = [Finding(message, _header_path(message, self._value), on_name=True)]
        elif message.startswith("The root must have"):
            word = "type" if '"type"' in message else "properties"
            found = [Finding(message, (word,))]
        known = [one for one in found if one is not None]
        return known or [Finding(message, _path_named_in(message, self._places))]

    @cached_property
    def _defaults(self) -> dict[str, Finding]:
        try:
            return {
                told: Finding(told, (*path, "default"))
                for path, told in default_faults(self._value)
            }
        except (SchemaFault, ValueError):
            return {}


def _header_path(message: str, schema: Any) -> Path:
    """Where the mark stands that is wrong: at the property that the message names, or the first."""
    marked = [(*path, HEADER_MARK) for path, part in subschemas(schema) if HEADER_MARK in part]
    for path in marked:
        names = path[1:-1:2]
        if f"property {'.'.join(map(str, names))!r}" in message:
            return path
    return marked[0] if marked else ()


def _path_named_in(message: str, places: Places) -> Path:
    """Messages on values begin with the way to them: `properties.a[0] must be finite`."""
    best: Path = ()
    for path in places.values:
        steps = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)
        if len(path) > len(best) and message.startswith(f"{steps.removeprefix('.')} "):
            best = path
    return best


def _told(one: Finding, places: Places) -> Told:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in one.path)
    pointer = "".join(f"/{step}" for step in steps)
    return Told(one.message, places.of(one.path, name=one.on_name), pointer, one.grave)
