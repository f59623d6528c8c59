"""How journal events become rows: in batches, each call exactly one row, whatever arrives twice.

An opening event holds what is known when a call arrives; a closing event holds the whole row. So
a closing event alone is enough, an opening one never overwrites anything, and applying either any
number of times, in any order, gives the same row. A call that is final stays as it is. The
transaction that makes it final also counts it (`figures`), so figures are as right as the log, and
what arrives twice counts once.

Written as plain SQL: this runs for every call beside the calls themselves, and building model
instances costs ten times as much as the insert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, Final

from django.db import connections, models, transaction

from tools.contracts import CallState, advance
from tools.errors import CallStatus, ErrorCode
from tools.models.figures import CallFigures

KEY: Final = ("call_id", "received_at")
# Columns in the order of the statements; `parameters` and `stages` come as JSON text.
OPENING: Final = [
    "call_id",
    "received_at",
    "request_id",
    "correlation_id",
    "thread_id",
    "tool_name",
    "source",
    "transport",
    "caller",
    "state",
    "parameters",
    "query_text",
    "deadline_at",
    "request_bytes",
]
CLOSING: Final = [
    "source",
    "state",
    "status",
    "code",
    "error",
    "finished_at",
    "duration_ms",
    "stages",
    "cache_hit",
    "response_bytes",
    "tokens_before",
    "tokens_after",
]
WHOLE: Final = [*OPENING, *(name for name in CLOSING if name not in OPENING)]
BODY: Final = ["call_id", "received_at", "response_id", "body", "truncated"]
UNKNOWN_YET: Final[Mapping[str, Any]] = {
    **dict.fromkeys(WHOLE),
    "status": "",
    "code": "",
    "error": "",
    "stages": "{}",
}
# Columns that have another name in events.
CALLED: Final = {"tool_name": "tool", "response_id": "request_id"}
TIMES: Final = ("received_at", "deadline_at", "finished_at")
IDS: Final = ("call_id", "request_id")
# Of a call that nobody closed.
COUNTED_OPEN: Final = ("call_id", "received_at", "tool_id", "source", "caller")
# SQLite takes 32,766 parameters.
MOST_ASKED: Final = 10_000
ABANDONED: Final = "The process that served this call stopped before the call ended"

Event = Mapping[str, Any]


class JournalManager(models.Manager[Any]):
    """Rows of the request log, written from events."""

    def apply(self, events: Iterable[Event]) -> None:
        """Write a batch of events; all of it or, when it raises, none of it."""
        opened: dict[str, Event] = {}
        closed: dict[str, Event] = {}
        for event in events:
            (closed if event["kind"] == "close" else opened).setdefault(event["call_id"], event)
        opened = {call_id: event for call_id, event in opened.items() if call_id not in closed}
        as_taken = _plain if connections[self.db].vendor == "sqlite" else dict
        whole = [as_taken({**UNKNOWN_YET, **event}) for event in closed.values()]
        begun = [as_taken({**UNKNOWN_YET, **event}) for event in opened.values()]
        with transaction.atomic(using=self.db):
            self._execute(self._statement(WHOLE, "DO NOTHING"), WHOLE, begun)
            CallFigures.objects.db_manager(self.db).record(self._finish(whole))
            self._insert_bodies([event for event in whole if event["body"] is not None])

    def sweep(self, before: datetime) -> int:
        """Fail the calls whose deadline passed before `before` and that nobody closed."""
        overdue = self.filter(finished_at__isnull=True, deadline_at__lt=before).order_by()
        # Most often there is none, and looking takes no lock.
        if not overdue.exists():
            return 0
        # Nobody knows how far such a call came; the shortest legal way to the end is recorded.
        state = advance(advance(CallState.RECEIVED, CallState.VALIDATING), CallState.FAILED)
        ended = {"status": CallStatus.FAILURE.value, "code": ErrorCode.INTERNAL_ERROR.value}
        with transaction.atomic(using=self.db):
            # What another process fails, or closes, at this moment is left to it.
            rows = list(overdue.select_for_update(skip_locked=True).values(*COUNTED_OPEN))
            self.filter(pk__in=[row["call_id"] for row in rows]).update(
                **ended, state=state.value, error=ABANDONED, finished_at=datetime.now(UTC)
            )
            CallFigures.objects.db_manager(self.db).record(_abandoned(row, ended) for row in rows)
        return len(rows)

    def prune(self, before: datetime, chunk: int = 1000) -> int:
        """Remove rows older than `before` in small transactions, so that nobody waits for long."""
        from tools.models.journal import ToolResponse

        removed = 0
        while True:
            with transaction.atomic(using=self.db):
                old = list(
                    self.filter(received_at__lt=before)
                    .order_by("received_at")
                    .values_list("pk", flat=True)[:chunk]
                )
                ToolResponse.objects.filter(pk__in=old).delete()
                self.filter(pk__in=old).delete()
            removed += len(old)
            if len(old) < chunk:
                return removed

    def _finish(self, events: Sequence[Event]) -> Sequence[Event]:
        """Write rows of calls that are over; the events of those that were not over before."""
        if not events:
            return events
        table = self.model._meta.db_table
        changes = ", ".join(f"{name} = excluded.{name}" for name in CLOSING)
        statement = self._statement(
            WHOLE, f"DO UPDATE SET {changes} WHERE {table}.finished_at IS NULL"
        )
        if connections[self.db].vendor == "postgresql":
            return self._execute_returning(f"{statement} RETURNING 1", events)
        # The transaction is the only one that writes: what is found now stays so.
        over = self._over([event["call_id"] for event in events])
        self._execute(statement, WHOLE, events)
        return [event for event in events if event["call_id"] not in over]

    def _over(self, call_ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        with connections[self.db].cursor() as cursor:
            for start in range(0, len(call_ids), MOST_ASKED):
                asked = call_ids[start : start + MOST_ASKED]
                cursor.execute(
                    f"SELECT call_id FROM {self.model._meta.db_table}"  # noqa: S608 - our own name
                    f" WHERE call_id IN ({', '.join(['%s'] * len(asked))})"
                    " AND finished_at IS NOT NULL",
                    asked,
                )
                found.update(call_id for (call_id,) in cursor.fetchall())
        return found

    def _execute_returning(self, statement: str, events: Sequence[Event]) -> list[Event]:
        """Write rows; the events of those that were written."""
        values, written = _values(WHOLE), []
        with connections[self.db].cursor() as wrapper:
            # Of the driver's own: Django's has no way to ask for what each statement returned.
            cursor: Any = wrapper.cursor
            with connections[self.db].wrap_database_errors:
                cursor.executemany(statement, [values(event) for event in events], returning=True)
                for event in events:
                    if cursor.fetchone() is not None:
                        written.append(event)
                    cursor.nextset()
        return written

    def _insert_bodies(self, events: Sequence[Event]) -> None:
        from tools.models.journal import ToolResponse

        statement = self._statement(BODY, "DO NOTHING", ToolResponse._meta.db_table)
        self._execute(statement, BODY, events)

    def _statement(self, columns: Sequence[str], conflict: str, table: str = "") -> str:
        # Conflicts are met on both key columns, because PostgreSQL's partitions are unique by both.
        return (
            f"INSERT INTO {table or self.model._meta.db_table} ({', '.join(columns)})"  # noqa: S608 - names are our own constants
            f" VALUES ({', '.join(['%s'] * len(columns))}) ON CONFLICT ({', '.join(KEY)}) {conflict}"
        )

    def _execute(self, statement: str, columns: Sequence[str], events: Sequence[Event]) -> None:
        if not events:
            return
        values = _values(columns)
        with connections[self.db].cursor() as cursor:
            cursor.executemany(statement, [values(event) for event in events])


def _values(columns: Sequence[str]) -> Callable[[Event], Any]:
    return itemgetter(*(CALLED.get(name, name) for name in columns))


def _abandoned(row: Mapping[str, Any], ended: Mapping[str, str]) -> dict[str, Any]:
    """A call that nobody closed, as the closing event that it never had."""
    return {
        **dict.fromkeys(CLOSING),
        **row,
        **ended,
        "tool": row["tool_id"],
        "received_at": row["received_at"].astimezone(UTC).isoformat(),
        "stages": "{}",
    }


def _plain(event: dict[str, Any]) -> dict[str, Any]:
    """The event as SQLite takes it, which has neither times nor UUIDs of its own.

    The times of events are ISO 8601 in UTC.
    """
    for name in TIMES:
        if event[name] is not None:
            event[name] = str(datetime.fromisoformat(event[name])).removesuffix("+00:00")
    for name in IDS:
        event[name] = event[name].replace("-", "")
    return event


def parse_time(value: str) -> datetime:
    """A journal time: ISO 8601 in UTC, with microseconds."""
    return datetime.fromisoformat(value).astimezone(UTC)
