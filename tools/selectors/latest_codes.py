"""How the latest calls of several tools ended, in one statement however many tools there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import connection

from tools.models import ToolRequest

# Each tool by itself, from the index of its calls: a window over all of them would read them all.
_LATEST: Final = """SELECT tool_name, code FROM {table}
    WHERE tool_name = {name} AND received_at >= %s AND finished_at IS NOT NULL
    ORDER BY received_at DESC LIMIT %s"""
# Planned once for all tools: a plan for each would be one for each of the days, too.
_LATERAL: Final = (
    "SELECT latest.* FROM unnest(%s::text[]) AS asked(name) CROSS JOIN LATERAL ({one}) AS latest"
)


def latest_codes(tools: Collection[str], since: datetime, most: int) -> Mapping[str, list[str]]:
    """By tool the codes of its latest calls since then, `most` of each; empty ones succeeded."""
    found: dict[str, list[str]] = {name: [] for name in tools}
    if not found:
        return found
    after = connection.ops.adapt_datetimefield_value(since)
    together = connection.vendor == "postgresql"
    statement, given = (_lateral if together else _united)(list(found), after, most)
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        for name, code in cursor.fetchall():
            found[name].append(code)
    return found


def _lateral(names: list[str], after: Any, most: int) -> tuple[str, Sequence[Any]]:
    one = _LATEST.format(table=_table(), name="asked.name")
    return _LATERAL.format(one=one), [names, after, most]


def _united(names: list[str], after: Any, most: int) -> tuple[str, Sequence[Any]]:
    one = _LATEST.format(table=_table(), name="%s")
    statement = " UNION ALL ".join([f"SELECT * FROM ({one})"] * len(names))  # noqa: S608 - our own words
    return statement, [value for name in names for value in (name, after, most)]


def _table() -> str:
    return connection.ops.quote_name(ToolRequest._meta.db_table)
