"""The todo list in a database: one statement for each operation, so each is done whole or not at all."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from examples.todo_server.values import ACTIVE, MOST_FOUND, Fields, Found, Todo, Wanted

# The texts that are searched, and the columns that hold them folded.
FOLDED: Final = {"title": "title_folded", "description": "description_folded"}
# Urgent first.
ORDER: Final = "priority DESC NULLS LAST, due_date ASC NULLS LAST, id"

Row = Mapping[str, Any]


def fold(text: str) -> str:
    """The text without differences of case, in any script and however its accents are written."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


class Store(ABC):
    """What every database does alike. Methods may be called from `workers` threads at once.

    All of them raise `Unavailable` when the database does not answer.
    """

    # How many operations make sense at once.
    workers: int
    # How a statement marks a value.
    mark: str
    # Conditions with one value each.
    contains: str
    tagged: str

    @abstractmethod
    def rows(self, statement: str, values: Sequence[Any], *, write: bool) -> Sequence[Row]:
        """Run one statement in a transaction of its own."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def stored(self, fields: Fields) -> dict[str, Any]:
        """Fields of a todo as columns of this database."""

    @abstractmethod
    def todo(self, row: Row) -> Todo:
        """A row as a todo."""

    def create(self, fields: Fields) -> Todo:
        """A new todo, active."""
        now = datetime.now(UTC)
        columns = self._columns({"description": "", "tags": (), **fields, "status": ACTIVE}, now)
        columns["created_at"] = columns["updated_at"]
        marks = ", ".join([self.mark] * len(columns))
        statement = f"INSERT INTO todos ({', '.join(columns)}) VALUES ({marks}) RETURNING *"  # noqa: S608 - names are ours
        (row,) = self.rows(statement, list(columns.values()), write=True)
        return self.todo(row)

    def update(self, todo_id: int, fields: Fields) -> Todo | None:
        """Change the named fields and no others; None when there is no such todo."""
        columns = self._columns(fields, datetime.now(UTC))
        changes = ", ".join(f"{name} = {self.mark}" for name in columns)
        statement = f"UPDATE todos SET {changes} WHERE id = {self.mark} RETURNING *"  # noqa: S608 - names are ours
        return self._one(statement, [*columns.values(), todo_id])

    def delete(self, todo_id: int) -> Todo | None:
        """Remove a todo for good and give it back; None when there is none."""
        statement = f"DELETE FROM todos WHERE id = {self.mark} RETURNING *"  # noqa: S608 - names are ours
        return self._one(statement, [todo_id])

    def find(self, wanted: Wanted) -> Found:
        """What fits, urgent first."""
        conditions, values = self._conditions(wanted)
        statement = (
            "SELECT *, count(*) OVER () AS total FROM todos "  # noqa: S608 - conditions are ours
            f"WHERE {' AND '.join(conditions)} ORDER BY {ORDER} LIMIT {MOST_FOUND}"
        )
        rows = self.rows(statement, values, write=False)
        return Found(tuple(map(self.todo, rows)), rows[0]["total"] if rows else 0)

    def _one(self, statement: str, values: Sequence[Any]) -> Todo | None:
        rows = self.rows(statement, values, write=True)
        return self.todo(rows[0]) if rows else None

    def _columns(self, fields: Fields, now: datetime) -> dict[str, Any]:
        folded = {FOLDED[name]: fold(fields[name]) for name in FOLDED if name in fields}
        return self.stored({**fields, **folded, "updated_at": now})

    def _conditions(self, wanted: Wanted) -> tuple[list[str], list[Any]]:
        found: list[tuple[str, Any]] = [(f"status = {self.mark}", wanted.status)]
        if wanted.priority is not None:
            found.append((f"priority = {self.mark}", wanted.priority))
        if wanted.due_before is not None:
            found.append((f"due_date < {self.mark}", wanted.due_before))
        if wanted.due_after is not None:
            found.append((f"due_date > {self.mark}", wanted.due_after))
        found += [(self.tagged, tag) for tag in wanted.tags]
        conditions, values = [text for text, _ in found], [value for _, value in found]
        if wanted.words:
            places = [self.contains.format(column=column) for column in FOLDED.values()]
            conditions.append(f"({' OR '.join(places)})")
            values += [fold(wanted.words)] * len(places)
        return conditions, values
