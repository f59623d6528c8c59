"""The check of the database."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from django.db import Error as DatabaseError
from django.db import connections
from health_check.exceptions import ServiceUnavailable
from typing_extensions import override

from health.checks.base import ThreadedCheck


@dataclass
class Database(ThreadedCheck):
    """Reads one row that every migrated database has.

    A bare SELECT 1 would not notice a lost SQLite file: opening one that is missing creates it.
    """

    name: ClassVar[str] = "database"

    alias: str = "default"

    @override
    def run(self) -> float:
        connection = connections[self.alias]
        try:
            with connection.cursor() as cursor:
                started = time.perf_counter()
                cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
                cursor.fetchone()
                return time.perf_counter() - started
        except DatabaseError as fault:
            raise ServiceUnavailable("The database cannot be read") from fault
        finally:
            connection.close()
