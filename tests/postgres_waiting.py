"""Whether a session of PostgreSQL waits for what another one holds."""

from __future__ import annotations

from django.db import connection


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        # Within a transaction the list of sessions stays as it was first read, without those that came later.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            "AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])
