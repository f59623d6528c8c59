"""stdio on the wire: lines of a child, whatever it prints."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, opened, started
from tests.tools.backends.upstream.trial import eventually
from tools.backends.upstream.channel import ChannelFault, Garbage, TooLarge
from tools.upstreams import Upstream

CHILD = str(Path(__file__).parents[1] / "children" / "program.py")
NOTICE = {"jsonrpc": "2.0", "method": "notifications/told"}


@pytest.fixture
def child(commands: dict[str, Any]) -> Upstream:
    """A child that answers every request with its parameters."""
    commands["child"] = {"command": [sys.executable, "-S", CHILD, "plain", "wire"]}
    return started("child", connect_timeout=15)


async def test_requests_are_answered_and_notices_heard(child: Upstream) -> None:
    heard = Heard()
    async with opened(child, heard) as channel:
        answers = [(await asked(channel, ask(n, "notify", n=n)))["result"] for n in range(3)]
    assert answers == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert heard.messages == [(NOTICE, None)] * 3


async def test_a_line_end_inside_a_text_does_not_end_the_line(child: Upstream) -> None:
    text = "one\ntwo\r\nthree\u2028four \U0001f600"
    async with opened(child) as channel:
        assert (await asked(channel, ask(1, "echo", text=text)))["result"]["text"] == text


async def test_half_of_a_character_does_not_spoil_the_answer(child: Upstream) -> None:
    async with opened(child) as channel:
        answer = await asked(channel, ask(1, "echo", text="cut \ud83d"))
    assert answer["result"]["text"] == "cut ?"


async def test_a_greeting_before_the_messages_is_passed_over(child: Upstream) -> None:
    async with opened(child) as channel:
        lines = {"line": "Server ready!\n\n", "times": 15}
        assert (await asked(channel, ask(1, "print", **lines)))["result"] == lines
        assert (await asked(channel, ask(2, "print", **lines)))["result"] == lines
        assert not channel.broken


async def test_a_program_that_prints_no_messages_is_ended(child: Upstream) -> None:
    async with opened(child) as channel:
        with pytest.raises(Garbage, match="not JSON"):
            await asked(channel, ask(1, "print", line="Loading...\n", times=30))
        assert channel.broken
        pid = channel.process_handle
        await eventually(lambda: not Path(f"/proc/{pid}").exists())


async def test_a_line_larger_than_20_mb_is_not_read(child: Upstream) -> None:
    async with opened(child) as channel:
        with pytest.raises(TooLarge, match="larger than 20 MB"):
            await asked(channel, ask(1, "print", line="x" * 1024, times=21 * 1024))


async def test_what_a_program_complains_of_is_logged_and_told_when_it_ends(
    commands: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    commands["gone"] = {"command": [sys.executable, "-S", CHILD, "gone", "wire"]}
    async with opened(started("gone", connect_timeout=15)) as channel:
        with caplog.at_level(logging.INFO), pytest.raises(ChannelFault) as told:
            await asked(channel, ask(1))
    assert str(told.value) == "exited with status 1: no configuration was found"
    assert "Upstream child: no configuration was found" in caplog.text


async def test_secrets_in_complaints_are_not_logged(
    child: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    words = "login failed: Authorization: Bearer hunter2hunter2"
    with caplog.at_level(logging.INFO):
        async with opened(child) as channel:
            await asked(channel, ask(1, "complain", line=words))
            await eventually(lambda: "login failed" in caplog.text)
    assert "hunter2hunter2" not in caplog.text


async def test_a_program_that_is_not_there_is_told(commands: dict[str, Any]) -> None:
    commands["nothing"] = {"command": ["/no/such/program"]}
    with pytest.raises(ChannelFault, match="cannot be started: no such file") as told:
        async with opened(started("nothing", connect_timeout=15)):
            pass
    assert not told.value.sent


async def test_variables_that_were_never_sealed_start_nothing(child: Upstream) -> None:
    upstream = started(child.command, environment="never-sealed")
    with pytest.raises(ChannelFault, match="its variables") as told:
        async with opened(upstream):
            pass
    assert not told.value.sent
