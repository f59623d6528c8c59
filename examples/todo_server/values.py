"""What a todo is, what is asked for, and the limits of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

ACTIVE: Final = "active"
STATUSES: Final = (ACTIVE, "completed", "archived")
TITLE_LENGTH: Final = 200
DESCRIPTION_LENGTH: Final = 2000
QUERY_LENGTH: Final = 200
TAG_LENGTH: Final = 50
MOST_TAGS: Final = 20
LOWEST_PRIORITY: Final = 1
HIGHEST_PRIORITY: Final = 5
# What both databases hold in a key.
LARGEST_ID: Final = 2**63 - 1
# How many todos one answer carries.
MOST_FOUND: Final = 500


@dataclass(frozen=True, slots=True)
class Todo:
    """One row, in the types of JSON."""

    id: int
    title: str
    description: str
    status: str
    priority: int | None
    tags: tuple[str, ...]
    due_date: str | None
    created_at: str
    updated_at: str

    def to_wire(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "status": self.status,
            "priority": self.priority,
            "tags": list(self.tags),
            "due_date": self.due_date,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which todos to find: all conditions must hold. `words` is looked for in title and description."""

    status: str = ACTIVE
    words: str = ""
    priority: int | None = None
    tags: tuple[str, ...] = ()
    due_before: str | None = None
    due_after: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The first of what was found, and how many there are in all."""

    todos: tuple[Todo, ...] = ()
    total: int = 0


# Named fields of a todo with their checked values.
Fields = Mapping[str, Any]


class Unavailable(Exception):
    """The database does not answer. The message is for operators."""


class Invalid(Exception):
    """An argument that cannot be used. The message says which, and what would do."""
