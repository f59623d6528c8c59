"""`manage.py export_config`."""

from __future__ import annotations

import os
from errno import EPIPE
from io import StringIO
from pathlib import Path
from typing import NoReturn

import pytest
from django.core.management import CommandError, call_command
from typing_extensions import override

from tests.factories import make_service, make_tool
from tests.tools.test_conf import EXAMPLE
from tools.services.apply_config import apply_config, read_document

pytestmark = pytest.mark.django_db


class Closed(StringIO):
    """What a pipe is when the program behind it has gone."""

    @override
    def write(self, _text: str) -> NoReturn:
        raise BrokenPipeError(EPIPE, os.strerror(EPIPE))


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("export_config", *arguments, stdout=out)
    return out.getvalue()


def test_exported_text_is_what_was_applied() -> None:
    # S3-037
    apply_config(read_document(EXAMPLE))
    assert run() == EXAMPLE
    make_service(service_name="other")
    assert run("--name", "memgraph-server") == EXAMPLE


def test_output_goes_to_the_file_asked_for(tmp_path: Path) -> None:
    apply_config(read_document(EXAMPLE))
    target = tmp_path / "service.yaml"
    assert run("--output", str(target)) == ""
    assert target.read_text(encoding="utf-8") == EXAMPLE


def test_tools_are_written_when_asked_for() -> None:
    make_service(service_name="todo")
    make_tool(name="echo")
    alone = read_document(run("--only-tools"))
    assert list(alone) == ["tools"]
    both = read_document(run("--with-tools"))
    assert (both["service"]["name"], both["tools"]) == ("todo", alone["tools"])
    assert "tools" not in read_document(run())


def test_faults_are_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no service 'x'"):
        run("--name", "x")
    make_service()
    with pytest.raises(CommandError, match="cannot be written"):
        run("--output", str(tmp_path / "missing" / "service.yaml"))


def test_an_output_that_takes_nothing_is_named() -> None:
    make_service()
    with pytest.raises(CommandError, match=r"^Standard output cannot be written: .*Broken pipe"):
        call_command("export_config", stdout=Closed())
