"""The standard streams as a door: what reaches the client, and what does not."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tools.conf import deployment
from tools.mcp_server.transports.stdio import Lines, Writer

SET_UP = """
import django
django.setup()
"""
STRAY = """
import json, os, subprocess, sys
from tools.mcp_server.transports.stdio import claimed_wire, nobody_there
with claimed_wire() as wire:
    print("stray print")
    subprocess.run(["echo", "stray child"])
    os.write(1, b"stray write")
    read = sys.stdin.read()
    given = os.read(wire.reading, 100).decode()
    os.write(wire.writing, json.dumps([read, given]).encode())
print(" after", sys.stdin.read(), nobody_there())
"""


def python(code: str, stdin: str | int) -> subprocess.CompletedProcess[str]:
    given = {"input": stdin} if isinstance(stdin, str) else {"stdin": stdin}
    return subprocess.run(
        [sys.executable, "-c", SET_UP + code],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        **given,
    )


def test_nothing_but_messages_reaches_the_client() -> None:
    done = python(STRAY, "message\n")
    assert done.stdout == json.dumps(["", "message\n"]) + " after  False\n"
    for stray in ("stray print", "stray child", "stray write"):
        assert stray in done.stderr


def test_null_device_and_a_closed_stream_are_no_client() -> None:
    there = "from tools.mcp_server.transports.stdio import nobody_there\n{}print(nobody_there())"
    assert python(there.format(""), subprocess.DEVNULL).stdout == "True\n"
    assert python(there.format(""), "").stdout == "False\n"
    assert python(there.format("import os; os.close(0)\n"), "").stdout == "True\n"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):
            os.close(end)


async def arrived(lines: Lines) -> list[bytes]:
    return [line async for line in lines.arriving()]


async def test_lines_arrive_whole_however_they_are_cut(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    gathering = asyncio.create_task(arrived(Lines(reading)))
    for piece in (b'{"a":', b" 1}\n\n", b'  \n{"b": 2}\n{"c"', b": 3}"):
        os.write(writing, piece)
        await asyncio.sleep(0)
    os.close(writing)
    assert await gathering == [b'{"a": 1}', b'{"b": 2}', b'{"c": 3}']


async def test_line_beyond_the_limit_comes_empty_and_the_next_one_whole(
    pipe: tuple[int, int],
) -> None:
    reading, writing = pipe
    gathering = asyncio.create_task(arrived(Lines(reading)))
    long = b"x" * (3 * deployment().max_body_bytes)

    def write() -> None:
        with os.fdopen(writing, "wb") as stream:
            stream.write(long + b"\nshort\n" + long)

    await asyncio.to_thread(write)
    assert await gathering == [b"", b"short"]


async def test_reader_waits_for_a_slow_loop_and_loses_nothing(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    count = 1000
    gathering = asyncio.create_task(arrived(Lines(reading)))

    def write() -> None:
        with os.fdopen(writing, "wb") as stream:
            stream.writelines(b"%d\n" % number for number in range(count))

    await asyncio.to_thread(write)
    assert await gathering == [b"%d" % number for number in range(count)]


async def test_written_lines_are_read_in_their_order(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    writer = Writer(writing)
    await asyncio.gather(*(writer.write(f"line {number}") for number in range(3)))
    assert os.read(reading, 100) == b"line 0\nline 1\nline 2\n"


async def test_writer_notices_that_nobody_reads(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    writer = Writer(writing)
    os.close(reading)
    await writer.write("lost")
    await writer.broken()
    await writer.write("lost too")
