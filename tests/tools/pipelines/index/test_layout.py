"""Files that are whole or not there, and locks that end with their holder."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tools.pipelines.index.layout import only_one, written_aside, written_file


def test_folder_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "1"
    with written_aside(target) as aside:
        (aside / "a").write_text("a")
        assert not target.exists()
    assert (target / "a").read_text() == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_failed_folder_and_what_a_dead_process_left_are_removed(tmp_path: Path) -> None:
    (tmp_path / "1.aside-dead").mkdir()
    with pytest.raises(RuntimeError), written_aside(tmp_path / "1"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_failed_file_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "part"
    target.write_bytes(b"old")
    with suppress(RuntimeError), written_file(target) as file:
        file.write(b"half of the n")
        raise RuntimeError
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_only_one_process_is_inside_until_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import fcntl, sys, time\n"
        f"file = open({str(path)!r}, 'ab')\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('inside', flush=True)\n"
        "sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdin is not None
    other.stdout.readline()
    with only_one(path) as mine:
        assert not mine
    other.kill()
    other.wait(10)
    with only_one(path) as mine:
        assert mine
    other.stdin.close()
    other.stdout.close()
