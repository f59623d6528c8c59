"""PostgreSQL: the request log becomes a table partitioned by day, so that retention drops whole days.

The primary key gains the partition key, as PostgreSQL asks for, and bears the name of the unique
constraint that Django knows. A default partition takes rows of days nobody prepared, so that a
write never fails for want of one. Elsewhere there is nothing to do.
"""

from __future__ import annotations

from django.db import migrations

# Table, and the name of its unique constraint over call_id and received_at.
TABLES = {
    "tools_toolrequest": "journal_one_row_per_call",
    "tools_toolresponse": "journal_one_body_per_call",
}
COPIED = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS"


def partition(apps, schema_editor):
    for table, key in TABLES.items():
        rebuild(
            schema_editor,
            table,
            f"CREATE TABLE {table} (LIKE {table}_before {COPIED},"
            f" CONSTRAINT {key}_days PRIMARY KEY (call_id, received_at))"
            " PARTITION BY RANGE (received_at)",
            [
                f"CREATE TABLE {table}_default PARTITION OF {table} DEFAULT",
                f"ALTER TABLE {table} RENAME CONSTRAINT {key}_days TO {key}",
            ],
        )


def merge(apps, schema_editor):
    for table, key in TABLES.items():
        rebuild(
            schema_editor,
            table,
            f"CREATE TABLE {table} (LIKE {table}_before {COPIED}, PRIMARY KEY (call_id))",
            [f"ALTER TABLE {table} ADD CONSTRAINT {key} UNIQUE (call_id, received_at)"],
        )


def rebuild(schema_editor, table, create, finish):
    """Put a table in the place of one of the same columns, with its rows and plain indexes."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_indexdef(x.indexrelid) FROM pg_index x"
            " WHERE x.indrelid = %s::regclass AND NOT x.indisunique",
            [table],
        )
        indexes = [definition.replace(" ON ONLY ", " ON ") for (definition,) in cursor.fetchall()]
    schema_editor.execute(f"ALTER TABLE {table} RENAME TO {table}_before")
    schema_editor.execute(create)
    # The old table goes before names of its constraints and indexes are used again; what it holds
    # waits in a copy.
    schema_editor.execute(f"CREATE TABLE {table}_rows AS SELECT * FROM {table}_before")
    schema_editor.execute(f"DROP TABLE {table}_before")
    for statement in (*finish, *indexes):
        schema_editor.execute(statement)
    schema_editor.execute(f"INSERT INTO {table} SELECT * FROM {table}_rows")
    schema_editor.execute(f"DROP TABLE {table}_rows")


class Migration(migrations.Migration):
    dependencies = [("tools", "0001_initial")]

    operations = [migrations.RunPython(partition, merge, elidable=False)]
