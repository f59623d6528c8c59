"""How the latest calls of several tools ended, in one statement however many tools there are."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import connection

from tools.models import ToolRequest

# Each tool by itself, from the index of its calls: a window over all of them would read them all.
_LATEST: Final = """SELECT tool_name, code FROM {table}
    WHERE tool_name = {name} AND received_at >= %s AND finished_at IS NOT NULL
    ORDER BY received_at DESC LIMIT %s"""
# SQLite joins nothing laterally, and takes 500 selects in a statement at most.
_GATHERED: Final = """SELECT latest.name, code.value FROM (
    SELECT value AS name, (SELECT json_group_array(code) FROM ({one})) AS codes
    FROM json_each(%s) AS asked
) AS latest, json_each(latest.codes) AS code"""
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
    statement, given = (_lateral if together else _gathered)(list(found), after, most)
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        for name, code in cursor.fetchall():
            found[name].append(code)
    return found


def _lateral(names: list[str], after: Any, most: int) -> tuple[str, Sequence[Any]]:
    one = _LATEST.format(table=_table(), name="asked.name")
    return _LATERAL.format(one=one), [names, after, most]


def _gathered(names: list[str], after: Any, most: int) -> tuple[str, Sequence[Any]]:
    one = _LATEST.format(table=_table(), name="asked.value")
    return _GATHERED.format(one=one), [after, most, json.dumps(names)]


def _table() -> str:
    return connection.ops.quote_name(ToolRequest._meta.db_table)
