"""Processes that make load: each takes orders, one line of JSON each way."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.processes import wait_until


async def next_order() -> dict[str, Any]:
    """What such a process is told to do next."""
    order: dict[str, Any] = json.loads(await asyncio.to_thread(sys.stdin.readline))
    return order


def say(told: dict[str, Any]) -> None:
    """Answer, from inside such a process."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


class Hand:
    """One such process. It writes its answers to a file."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self._process = process
        self._output = output
        self._read = 0

    def order(self, **order: Any) -> None:
        """Say what to do, without waiting for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()

    def answer(self, timeout: float) -> dict[str, Any]:
        """What it says next."""
        wait_until(lambda: len(self._lines()) > self._read, timeout, "an answer of the load")
        line = self._lines()[self._read]
        assert line.startswith("{"), self._output.read_text()[-4000:]
        self._read += 1
        told: dict[str, Any] = json.loads(line)
        return told

    def _lines(self) -> list[str]:
        text = self._output.read_text()
        lines = text.splitlines()
        complete = lines if text.endswith("\n") else lines[:-1]
        if len(complete) <= self._read:
            assert self._process.poll() is None, text[-2000:]
        return complete


class Hands:
    """Several of them, ordered about together."""

    def __init__(self, hands: Sequence[Hand]) -> None:
        self._hands = hands

    def do(self, timeout: float, **order: Any) -> list[dict[str, Any]]:
        """The answers of all, once all are done."""
        self.begin(**order)
        return self.answers(timeout)

    def begin(self, **order: Any) -> None:
        """Say what to do; `answers` waits for it."""
        for hand in self._hands:
            hand.order(**order)

    def answers(self, timeout: float) -> list[dict[str, Any]]:
        return [hand.answer(timeout) for hand in self._hands]


@contextmanager
def hands(
    folder: Path, module: str, arguments: Sequence[object], number: int = 1
) -> Iterator[Hands]:
    """`number` processes of `module`, ended afterwards."""
    with ExitStack() as stack:
        made = [
            stack.enter_context(_hand(folder / f"{module}-{index}", module, arguments))
            for index in range(number)
        ]
        yield Hands(made)


@contextmanager
def _hand(output: Path, module: str, arguments: Sequence[object]) -> Iterator[Hand]:
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Hand(process, output)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
