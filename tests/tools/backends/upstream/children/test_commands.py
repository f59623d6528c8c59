"""Which commands are started, and what they see of the environment."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from tests.tools.backends.upstream.children.conftest import Starts
from tests.tools.backends.upstream.transports.talk import ask, asked, opened, started
from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.children.commands import (
    AllowedCommand,
    allowed_commands,
    child_environment,
)
from tools.backends.upstream.children.leftovers import MARK
from tools.vault import seal

SECRETS = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "LLM_API_KEY", "AWS_SECRET_ACCESS_KEY")


async def test_a_command_that_is_not_listed_is_not_run(commands: dict[str, Any]) -> None:
    for command in ("/bin/sh", "sh", "todo; sh", "../todo"):
        with pytest.raises(ChannelFault, match="is not in UPSTREAM_COMMANDS") as told:
            async with opened(started(command)):
                pass
        assert not told.value.sent


def test_the_list_is_read_with_what_operators_may_set(commands: dict[str, Any]) -> None:
    commands["todo"] = {"command": ["run", "it"], "environment": ["API_KEY"], "directory": "/tmp"}
    commands["plain"] = {"command": ["run"]}
    assert allowed_commands() == {
        "todo": AllowedCommand("todo", ("run", "it"), ("API_KEY",), "/tmp"),
        "plain": AllowedCommand("plain", ("run",)),
    }


async def test_a_child_sees_the_way_around_the_machine_and_none_of_our_secrets(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*SECRETS, "LD_PRELOAD_NOT", "PYTHONPATH_NOT"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    async with opened(starts(connect_timeout=15)) as channel:
        seen = (await asked(channel, ask(1, "environment")))["result"]
    assert set(seen) - {MARK} <= {
        "PATH",
        "HOME",
        "LANG",
        "TZ",
        "TMPDIR",
        "USER",
        "LC_ALL",
        "LC_CTYPE",
    }
    assert seen["PATH"] == os.environ["PATH"]
    assert "hunter2" not in seen.values()


async def test_a_child_gets_the_variables_that_its_entry_allows_and_no_others(
    starts: Starts, caplog: pytest.LogCaptureFixture
) -> None:
    given = {"API_KEY": "hunter2", "LD_PRELOAD": "/tmp/evil.so", "PATH": "/tmp/evil"}
    entry = {"environment": ["API_KEY", "UNUSED"]}
    upstream = starts(entry=entry, environment=seal(json.dumps(given)), connect_timeout=15)
    with caplog.at_level(logging.WARNING):
        async with opened(upstream) as channel:
            seen = (await asked(channel, ask(1, "environment")))["result"]
    assert seen["API_KEY"] == "hunter2"
    assert "LD_PRELOAD" not in seen
    assert seen["PATH"] == os.environ["PATH"]
    assert "may not be given the variable LD_PRELOAD" in caplog.text
    assert "hunter2" not in caplog.text


def test_what_an_operator_set_goes_before_what_is_passed_on() -> None:
    entry = AllowedCommand("todo", ("run",), ("LANG",))
    assert child_environment(entry, {"LANG": "de_DE"})["LANG"] == "de_DE"


async def test_a_child_runs_in_the_folder_of_its_entry(starts: Starts, tmp_path: Path) -> None:
    upstream = starts(entry={"directory": str(tmp_path)}, connect_timeout=15)
    async with opened(upstream) as channel:
        assert (await asked(channel, ask(1, "where")))["result"] == str(tmp_path)
    missing = starts(entry={"directory": str(tmp_path / "missing")}, connect_timeout=15)
    with pytest.raises(ChannelFault, match="cannot be started"):
        async with opened(missing):
            pass
