"""`manage.py service_registry`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tools.models import RegisteredService
from tools.services.service_registry import registered

pytestmark = pytest.mark.django_db

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "services.yaml"


def run(*arguments: Any) -> str:
    told = io.StringIO()
    call_command("service_registry", *map(str, arguments), stdout=told)
    return told.getvalue()


def test_a_registry_is_imported_and_exported(tmp_path: Path) -> None:
    # S3-066 S3-067
    told = "docwell: would be added: url http://localhost:8003, enabled off, key_variable DOCWELL"
    assert told in run("import", EXAMPLE, "--dry-run")
    assert not RegisteredService.objects.exists()
    assert run("import", EXAMPLE).splitlines()[-1] == "0 with nothing to change"
    before = registered()
    file = tmp_path / "services.yaml"
    assert run("export", file) == ""
    assert run("export") == file.read_text()
    RegisteredService.objects.all().delete()
    run("import", file)
    assert registered() == before
    assert run("import", file) == "4 with nothing to change\n"


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("- {name: seekr, url: 'http://x'}"))
    assert run("import", "-").startswith("seekr: added: url http://x, ")


def test_what_cannot_be_used_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"cannot be used: .*No such file"):
        run("import", tmp_path / "none.yaml")
    bad = tmp_path / "bad.yaml"
    bad.write_text("- {name: A, url: x}")
    with pytest.raises(CommandError, match="was not imported"):
        run("import", bad)
