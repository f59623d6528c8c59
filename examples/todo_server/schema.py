"""The JSON Schemas of what the tools take and give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from examples.todo_server.values import (
    ACTIVE,
    DESCRIPTION_LENGTH,
    HIGHEST_PRIORITY,
    LARGEST_ID,
    LOWEST_PRIORITY,
    MOST_TAGS,
    QUERY_LENGTH,
    STATUSES,
    TAG_LENGTH,
    TITLE_LENGTH,
)

Schema = dict[str, Any]

TODO_ID: Final[Schema] = {
    "type": "integer",
    "minimum": 1,
    "maximum": LARGEST_ID,
    "description": "The id of the todo, as create_todo, list_todos and search_todos give it.",
}
TITLE: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": TITLE_LENGTH,
    # White space around it is taken off, so something else must be left.
    "pattern": r"\S",
    "description": "What is to be done, in a few words.",
}
DESCRIPTION: Final[Schema] = {
    "type": "string",
    "maxLength": DESCRIPTION_LENGTH,
    "description": "Anything worth knowing beyond the title.",
}
PRIORITY: Final[Schema] = {
    "type": "integer",
    "minimum": LOWEST_PRIORITY,
    "maximum": HIGHEST_PRIORITY,
    "description": "From 1, the lowest, to 5, the highest.",
}
TAGS: Final[Schema] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": TAG_LENGTH, "pattern": r"\S"},
    "maxItems": MOST_TAGS,
    "description": "Words that group todos.",
}
STATUS: Final[Schema] = {
    "type": "string",
    "enum": list(STATUSES),
    "description": "completed takes a todo off the list without deleting it; archived puts it away.",
}
DATE: Final[Schema] = {"type": "string", "format": "date"}
DUE_DATE: Final[Schema] = {**DATE, "description": "The day it is due, as YYYY-MM-DD."}
QUERY: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": QUERY_LENGTH,
    "pattern": r"\S",
    "description": "Text to look for in titles and descriptions; upper and lower case are alike.",
}


def taking(properties: Schema, required: Sequence[str] = ()) -> Schema:
    """The schema of arguments: these and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def only(schema: Schema, description: str) -> Schema:
    """A condition on a field, in the words of the tool that has it."""
    return {**schema, "description": description}


ONLY_STATUS: Final = {
    **only(STATUS, f"Only todos of this status; {ACTIVE} ones when left out."),
    "default": ACTIVE,
}
ONLY_PRIORITY: Final = only(PRIORITY, "Only todos of this priority.")

CREATE: Final = taking(
    {
        "title": TITLE,
        "description": DESCRIPTION,
        "priority": PRIORITY,
        "tags": TAGS,
        "due_date": DUE_DATE,
    },
    required=["title"],
)
LIST: Final = taking(
    {
        "status": ONLY_STATUS,
        "priority": ONLY_PRIORITY,
        "tags": only(TAGS, "Only todos that have all of these tags."),
        "due_date_before": only(DATE, "Only todos due before this day, YYYY-MM-DD."),
        "due_date_after": only(DATE, "Only todos due after this day, YYYY-MM-DD."),
    }
)
UPDATE: Final = taking(
    {
        "todo_id": TODO_ID,
        "title": TITLE,
        "description": DESCRIPTION,
        "status": STATUS,
        "priority": PRIORITY,
        "tags": only(TAGS, "The new tags, in place of all it has; an empty list takes them off."),
        "due_date": DUE_DATE,
    },
    required=["todo_id"],
)
SEARCH: Final = taking(
    {"query": QUERY, "status": ONLY_STATUS, "priority": ONLY_PRIORITY}, required=["query"]
)
DELETE: Final = taking({"todo_id": TODO_ID}, required=["todo_id"])

_MOMENT: Final = {"type": "string", "format": "date-time"}
TODO: Final[Schema] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "status": {"type": "string", "enum": list(STATUSES)},
        "priority": {"type": ["integer", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "due_date": {"type": ["string", "null"], "format": "date"},
        "created_at": _MOMENT,
        "updated_at": _MOMENT,
    },
    "required": [
        *("id", "title", "description", "status", "priority"),
        *("tags", "due_date", "created_at", "updated_at"),
    ],
}
TODOS: Final[Schema] = {
    "type": "object",
    "properties": {
        "total": {"type": "integer", "description": "How many there are."},
        "todos": {"type": "array", "items": TODO, "description": "The first of them."},
    },
    "required": ["total", "todos"],
}
DELETED: Final[Schema] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "title": {"type": "string"},
        "deleted": {"const": True},
        "message": {"type": "string"},
    },
    "required": ["id", "title", "deleted", "message"],
}
