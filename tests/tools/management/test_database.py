"""Commands on a database that is not ready for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tests.judged import write_collection
from tests.project.pages import PROJECT


def manage(var: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "VAR_DIR": str(var),
        "DATABASE_URL": f"sqlite:///{var / 'new.sqlite3'}",
    }
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_measuring_can_be_the_first_thing_somebody_does(tmp_path: Path) -> None:
    collection = write_collection(tmp_path / "Small set")
    var = tmp_path / "var"
    var.mkdir()
    done = manage(var, "evaluate", "--dataset", str(collection), "--pipelines", "basic")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert done.stdout.startswith("Setting up the database …\n")
    assert "Small set: 6 documents" in done.stdout


@pytest.mark.django_db
@pytest.mark.parametrize("command", [["evaluate", "--dataset"], ["ingest"]])
def test_a_database_in_use_is_left_to_its_operator(command: list[str], tmp_path: Path) -> None:
    collection = write_collection(tmp_path / "Small set")
    applied = MigrationRecorder(connection)
    applied.record_unapplied(
        "tools", max(name for app, name in applied.applied_migrations() if app == "tools")
    )
    with pytest.raises(CommandError, match=r"run `manage\.py migrate` first"):
        call_command(*command, str(collection))
