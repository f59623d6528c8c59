"""`manage.py apply_config`."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_tool
from tests.tools.test_conf import EXAMPLE
from tools.models import ServiceConfiguration, Tool
from tools.services.apply_config import to_yaml
from tools.services.tool_exchange import export_tools

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("apply_config", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "http-server.yaml"
    path.write_text(EXAMPLE, encoding="utf-8")
    return path


def test_file_is_applied_then_found_unchanged(file: Path) -> None:
    # S3-037 F3-12
    assert run(str(file)) == "memgraph-server: created\n"
    assert run(str(file)) == "memgraph-server: nothing to change\n"
    file.write_text(EXAMPLE.replace("port: 3000", "port: 3001"), encoding="utf-8")
    assert run(str(file)) == "memgraph-server: changed: service.port\n"
    assert ServiceConfiguration.objects.get().service_port == 3001


def test_dry_run_says_what_would_happen(file: Path) -> None:
    assert run(str(file), "--dry-run") == "memgraph-server: would be created\n"
    assert not ServiceConfiguration.objects.exists()


def test_tools_of_a_file_are_applied_and_told(file: Path) -> None:
    make_tool(name="echo", timeout_seconds=7)
    make_tool(name="other")
    text = to_yaml(export_tools())
    Tool.objects.filter(name="other").delete()
    file.write_text(text.replace("timeout_seconds: 7", "timeout_seconds: 8"), encoding="utf-8")
    told = "tool other: {0}created\ntool echo: {0}changed: timeout_seconds\n"
    rest = "tools: 0 with nothing to change\n"
    assert run(str(file), "--dry-run") == told.format("would be ") + rest
    assert run(str(file)) == told.format("") + rest
    assert run(str(file)) == "tools: 2 with nothing to change\n"
    assert Tool.objects.get(name="echo").timeout_seconds == 8
    file.write_text(f"{EXAMPLE}{text}", encoding="utf-8")
    assert run(str(file)).endswith("memgraph-server: created\n")


def test_wrong_tools_change_nothing(file: Path) -> None:
    file.write_text("tools:\n- name: echo\n- 5\n", encoding="utf-8")
    with pytest.raises(CommandError) as caught:
        run(str(file))
    told = str(caught.value)
    assert "tools: echo: description is missing" in told
    assert "tools: entry 2: must be a mapping" in told
    assert not Tool.objects.exists()


def test_document_may_come_through_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(EXAMPLE))
    assert run("-") == "memgraph-server: created\n"


def test_every_fault_is_told_with_its_key_path(file: Path) -> None:
    # F3-12
    bad = EXAMPLE.replace("port: 3000", "port: 80").replace("rate_limit: 1000", "rate_limit: 9")
    file.write_text(bad, encoding="utf-8")
    with pytest.raises(CommandError) as caught:
        run(str(file))
    told = str(caught.value).splitlines()
    assert told == [
        f"{file} was not applied:",
        "  service.port must be a whole number from 1024 to 65535; got 80",
        "  security.rate_limit must be a whole number of at least 10; got 9",
    ]
    assert not ServiceConfiguration.objects.exists()


def test_syntax_fault_is_told_with_line_and_column(file: Path) -> None:
    # F3-12
    file.write_text("service:\n  name: {\n", encoding="utf-8")
    with pytest.raises(CommandError, match="line 3, column 1"):
        run(str(file))


def test_file_that_cannot_be_read_is_told(tmp_path: Path, file: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        run(str(tmp_path / "missing.yaml"))
    file.write_bytes(b"service: \xff")
    with pytest.raises(CommandError, match="cannot be read"):
        run(str(file))
