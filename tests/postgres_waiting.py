"""Whether a session of PostgreSQL waits for what another one holds."""

from __future__ import annotations

from django.db import connection


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            "AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])
