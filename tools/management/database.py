"""The database that a command needs."""

from __future__ import annotations

from django.core.management import call_command
from django.core.management.base import CommandError, OutputWrapper
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import OperationalError


def ready_database(output: OutputWrapper) -> None:
    """See to it that the tables are there.

    An embedded database that holds nothing yet is set up, so that a command can be the first thing
    somebody runs. Whatever is in use already is for its operator to migrate.

    Raises:
        CommandError: they are not, and what to do.
    """
    try:
        executor = MigrationExecutor(connection)
    except OperationalError as fault:
        raise CommandError(f"The database cannot be reached: {fault}") from fault
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    if connection.vendor == "sqlite" and not executor.loader.applied_migrations:
        output.write("Setting up the database …")
        call_command("migrate", verbosity=0)
        return
    raise CommandError("The database is not up to date; run `manage.py migrate` first.")
