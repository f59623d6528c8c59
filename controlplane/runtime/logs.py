"""Reading the log files of the processes."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from controlplane.runtime.paths import RuntimePaths

CHUNK = 64 * 1024
POLL_SECONDS = 0.2


def log_files(paths: RuntimePaths, name: str | None) -> list[Path]:
    """The current log files of `name`, all `web-1`, `web-2` of `web`; of everything without a name."""
    found = sorted(paths.log_dir.glob("*.log"))
    if name is None:
        return [path for path in found if path.stat().st_size]
    return [path for path in found if path.stem == name or path.stem.rpartition("-")[0] == name]


def last_lines(path: Path, count: int) -> list[str]:
    """The last `count` lines of a file, read from its end; none when there is no file."""
    try:
        with path.open("rb") as handle:
            return _last_lines(handle, count)
    except FileNotFoundError:
        return []


def follow(files: list[Path], gone: Callable[[], bool]) -> Iterator[str]:
    """Lines appended to the files from now on, across rotation, until `gone` says so."""
    with ExitStack() as stack:
        tails = [stack.enter_context(_Tail(path)) for path in files]
        while not gone():
            fresh = [line for tail in tails for line in tail.read()]
            yield from fresh
            if not fresh:
                time.sleep(POLL_SECONDS)


def _last_lines(handle: BinaryIO, count: int) -> list[str]:
    position = handle.seek(0, io.SEEK_END)
    data = b""
    while position > 0 and data.count(b"\n") <= count:
        step = min(CHUNK, position)
        position = handle.seek(position - step)
        data = handle.read(step) + data
    lines = data.decode(errors="replace").splitlines()
    return lines[-count:] if count else []


class _Tail:
    """One growing file; starts at its end and moves on to its successor after rotation."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = path.open("rb")
        self._handle.seek(0, io.SEEK_END)
        self._rest = b""

    def __enter__(self) -> _Tail:
        return self

    def __exit__(self, *exception: object) -> None:
        self._handle.close()

    def read(self) -> list[str]:
        data = self._rest + self._handle.read(CHUNK)
        if data == self._rest and self._rotated():
            self._handle.close()
            self._handle = self._path.open("rb")
            data = self._rest + self._handle.read(CHUNK)
        *whole, self._rest = data.split(b"\n")
        return [line.decode(errors="replace") for line in whole]

    def _rotated(self) -> bool:
        try:
            current = os.stat(self._path)
        except FileNotFoundError:
            return False
        return current.st_ino != os.fstat(self._handle.fileno()).st_ino
