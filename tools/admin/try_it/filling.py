"""What a form begins with: the defaults of a schema, or the arguments of an earlier call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tools.admin.json_fields import pretty
from tools.admin.try_it.fields import MISSING, Field, Flat, build, flatten, read, same
from tools.admin.try_it.json_text import parse
from tools.admin.try_it.kinds import Kind, kind_of, plain

# Django refuses forms with more than a thousand values.
MOST_VALUES = 400
# A form that was sent has grown by rows, each of them with more values than it sends.
MOST_SENT = 2000
TOO_MANY_ROWS = "The form has too many rows. Go back, remove some, or write the arguments as JSON."
NOT_AN_OBJECT = 'The arguments must be a JSON object, such as {"a": 1}.'


@dataclass
class Arguments:
    """The arguments on the page: as a form, or as one JSON text."""

    form: Field
    text: str | None = None
    error: str = ""

    @property
    def as_json(self) -> bool:
        return self.text is not None

    @property
    def faulty(self) -> bool:
        return bool(self.error) or any(one.error for one in self.form.walk())

    def point_out(self, parameter: str, message: str) -> bool:
        """Show `message` at the field that `parameter` names, or the nearest around it."""
        if self.as_json:
            return False
        path = tuple(parameter.split("."))
        by_path = {one.path: one for one in self.form.walk() if one.path}
        for end in range(len(path), 0, -1):
            if found := by_path.get(path[:end]):
                found.error = message
                return True
        return False


def begin(schema: Any) -> Arguments:
    """An untouched form, with the defaults filled in."""
    form = build(schema, {})
    if form.kind is not Kind.OBJECT:
        return Arguments(form, "{}")
    defaults = _defaults(schema, schema, "", 0)
    form = build(schema, flatten(schema, defaults))
    return Arguments(form, None if form.kind is Kind.OBJECT else pretty(defaults))


def given(schema: Any, arguments: Any) -> Arguments:
    """`arguments` in the form; as JSON when the form would change them."""
    flat = flatten(schema, arguments)
    form = build(schema, flat)
    small = sum(map(len, flat.values())) <= MOST_VALUES
    fits = form.kind is Kind.OBJECT and small and same(read(form), arguments)
    return Arguments(build(schema, {}), pretty(arguments)) if not fits else Arguments(form)


def sent(schema: Any, data: Flat) -> tuple[Arguments, dict[str, Any]]:
    """What a browser sent, and the arguments that it comes to."""
    if "json" in data:
        text = next(iter(data["json"]), "")
        value, error = parse(text) if text.strip() else ({}, "")
        if not error and not isinstance(value, dict):
            error = NOT_AN_OBJECT
        arguments = {} if error else value
        return Arguments(build(schema, {}), text, error), arguments
    form = build(schema, data, MOST_SENT)
    if form.kind is not Kind.OBJECT:
        fresh = build(schema, {})
        return Arguments(fresh, "{}", TOO_MANY_ROWS if fresh.kind is Kind.OBJECT else ""), {}
    value = read(form)
    return Arguments(form), {} if value is MISSING else value


def _defaults(root: Any, schema: Any, name: str, depth: int) -> dict[str, Any]:
    """What is filled in at first. Optional groups stay empty: filled in they would be sent."""
    known = plain(schema, root)
    found: dict[str, Any] = {}
    required = known.get("required") if isinstance(known.get("required"), list) else []
    if kind_of(name, known, depth) is not Kind.OBJECT:
        return found
    for key, inner in known["properties"].items():
        part = plain(inner, root)
        kind = kind_of(key, part, depth + 1)
        if "default" in part and part["default"] is not None:
            found[key] = part["default"]
        elif kind is Kind.OBJECT and key in (required or ()):
            found[key] = _defaults(root, inner, key, depth + 1)
        elif kind is Kind.LIST and key in (required or ()):
            # One row at least, to be filled in.
            found[key] = [None]
    return found
