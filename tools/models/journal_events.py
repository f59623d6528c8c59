"""How journal events become rows: in batches, each call exactly one row, whatever arrives twice.

An opening event holds what is known when a call arrives; a closing event holds the whole row. So
a closing event alone is enough, an opening one never overwrites anything, and applying either any
number of times, in any order, gives the same row. A call that is final stays as it is.

Written as plain SQL: this runs for every call beside the calls themselves, and building model
instances costs ten times as much as the insert.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, Final

from django.db import connections, models, transaction

from tools.contracts import CallState, advance
from tools.errors import CallStatus, ErrorCode

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
            self._insert(begun, update=False)
            self._insert(whole, update=True)
            self._insert_bodies([event for event in whole if event["body"] is not None])

    def sweep(self, before: datetime) -> int:
        """Fail the calls whose deadline passed before `before` and that nobody closed."""
        # Nobody knows how far such a call came; the shortest legal way to the end is recorded.
        state = advance(advance(CallState.RECEIVED, CallState.VALIDATING), CallState.FAILED)
        return self.filter(finished_at__isnull=True, deadline_at__lt=before).update(
            state=state.value,
            status=CallStatus.FAILURE.value,
            code=ErrorCode.INTERNAL_ERROR.value,
            error=ABANDONED,
            finished_at=datetime.now(UTC),
        )

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

    def _insert(self, events: Sequence[Event], *, update: bool) -> None:
        table = self.model._meta.db_table
        changes = ", ".join(f"{name} = excluded.{name}" for name in CLOSING)
        conflict = (
            f"DO UPDATE SET {changes} WHERE {table}.finished_at IS NULL" if update else "DO NOTHING"
        )
        self._execute(table, WHOLE, conflict, events)

    def _insert_bodies(self, events: Sequence[Event]) -> None:
        from tools.models.journal import ToolResponse

        self._execute(ToolResponse._meta.db_table, BODY, "DO NOTHING", events)

    def _execute(
        self, table: str, columns: Sequence[str], conflict: str, events: Sequence[Event]
    ) -> None:
        if not events:
            return
        # Conflicts are met on both key columns, because PostgreSQL's partitions are unique by both.
        statement = (
            f"INSERT INTO {table} ({', '.join(columns)})"  # noqa: S608 - names are our own constants
            f" VALUES ({', '.join(['%s'] * len(columns))}) ON CONFLICT ({', '.join(KEY)}) {conflict}"
        )
        values = itemgetter(*(CALLED.get(name, name) for name in columns))
        with connections[self.db].cursor() as cursor:
            cursor.executemany(statement, [values(event) for event in events])


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
