"""From an empty state folder to one that can serve: database, configuration, administrator, demo."""

from __future__ import annotations

import io
import secrets
from dataclasses import dataclass, field

import psycopg
from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from controlplane.runtime.refusal import StartRefused
from tools.services.prune_journal import prepare_journal
from tools.services.seed_demo import SeedResult, seed_demo

# No 0, O, 1, l or I: the password is read off a screen.
LETTERS = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
LENGTH = 16


@dataclass(frozen=True, slots=True)
class Login:
    """The administrator; `password` only in the run that generated it."""

    user: str
    password: str | None = field(default=None, repr=False)
    created: bool = False


def migrate() -> int:
    """Bring the database up to date; the number of migrations that were applied.

    Raises:
        StartRefused: when the database cannot be used.
    """
    try:
        executor = MigrationExecutor(connection)
        pending = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        if pending:
            call_command("migrate", interactive=False, verbosity=0)
        prepare_journal()
    except DatabaseError as fault:
        raise StartRefused(
            f"The database cannot be used (DATABASE_URL): {_reason(fault)}"
        ) from fault
    return pending


def _reason(fault: DatabaseError) -> str:
    """Why, in one line; the pool says only that it waited, so PostgreSQL is asked once more itself."""
    if connection.vendor == "sqlite":
        return f"{fault}: {connection.settings_dict['NAME']}"
    wanted = connection.get_connection_params()
    wanted.pop("pool", None)
    try:
        psycopg.connect(**wanted).close()
    except psycopg.Error as cause:
        return str(cause).strip().splitlines()[0]
    return str(fault).strip().splitlines()[0]


def apply_file(path: str) -> str:
    """Apply a service configuration file; what the command reported.

    Raises:
        StartRefused: with one line per fault; nothing was changed.
    """
    report = io.StringIO()
    try:
        call_command("apply_config", path, stdout=report)
    except CommandError as fault:
        raise StartRefused(f"The configuration file {path} cannot be used: {fault}") from None
    return report.getvalue().strip()


def ensure_administrator(name: str, password: str) -> Login:
    """Create the first administrator; with an empty `password`, one is generated.

    Nothing is created when an administrator exists, under whatever name: one that an operator
    renamed or removed must not come back.

    Raises:
        StartRefused: when the configured password is too weak.
    """
    users = get_user_model().objects
    existing = users.filter(is_superuser=True, is_active=True).order_by("pk")
    names = [user.get_username() for user in existing]
    if names:
        return Login(name if name in names else names[0])
    if users.filter(username=name).exists():
        raise StartRefused(
            f"There is no administrator, and {name!r} is an ordinary user. Set ADMIN_USER to "
            "another name, or use `manage.py createsuperuser`."
        )
    if password:
        try:
            validate_password(password)
        except ValidationError as fault:
            raise StartRefused(f"ADMIN_PASSWORD: {' '.join(fault.messages)}") from None
    chosen = password or "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    users.create_superuser(username=name, email="", password=chosen)
    return Login(name, None if password else chosen, created=True)


def ensure_demo() -> SeedResult:
    """Create the demo data that is missing."""
    return seed_demo()
