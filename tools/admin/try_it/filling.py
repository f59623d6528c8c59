"""What a form begins with: the defaults of a schema, or the arguments of an earlier call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tools.admin.json_fields import pretty
from tools.admin.try_it.beginnings import MOST_ROWS, Beginnings
from tools.admin.try_it.fields import (
    MISSING,
    MOST_SENT,
    Field,
    Flat,
    build,
    flatten,
    is_row,
    read,
    same,
)
from tools.admin.try_it.json_text import parse
from tools.admin.try_it.kinds import Kind, plain

# Django refuses forms with more than a thousand values.
MOST_VALUES = 400
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
        found = _nearest(self.form, parameter.split("."))
        if found is not None:
            found.error = message
        return found is not None


def _nearest(form: Field, path: Sequence[str]) -> Field | None:
    """The field of that path, or the nearest around it. Rows are counted, whatever their numbers."""
    found: Field | None = None
    within: Field | None = form
    for name in path:
        if within is None:
            break
        if within.kind is Kind.LIST:
            rows = dict(enumerate(within.children))
            within = rows.get(int(name)) if is_row(name) else None
        else:
            within = next((one for one in within.children if one.name == name), None)
        found = within or found
    return found


def begin(schema: Any) -> Arguments:
    """An untouched form, with the defaults filled in."""
    form = build(schema, {})
    if form.kind is not Kind.OBJECT:
        return Arguments(form, "{}")
    for most_rows in (MOST_ROWS, 1):
        defaults = Beginnings(schema, most_rows).properties(plain(schema, schema), 0)
        form = build(schema, flatten(schema, defaults, begun=True))
        if form.kind is Kind.OBJECT:
            return Arguments(form)
    return Arguments(form, pretty(defaults))


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
