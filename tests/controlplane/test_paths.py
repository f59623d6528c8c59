"""Where a control plane keeps its files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.runtime.paths import LONGEST_SOCKET_PATH, RuntimePaths
from tests.controlplane.stack import short_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


def test_sockets_lie_in_the_state_folder_when_it_is_short() -> None:
    paths = RuntimePaths(Path("/srv/cp"))
    assert paths.run_dir == Path("/srv/cp/run")
    assert paths.redis_url == "unix:///srv/cp/run/redis.sock"


def test_sockets_of_a_deep_folder_lie_in_a_short_one_of_the_same_user() -> None:
    deep = Path("/srv") / ("x" * 200)
    paths = RuntimePaths(deep)
    assert len(os.fsencode(paths.supervisor_socket)) <= LONGEST_SOCKET_PATH
    assert str(os.getuid()) in paths.run_dir.name
    assert RuntimePaths(deep).run_dir == paths.run_dir
    assert RuntimePaths(deep / "other").run_dir != paths.run_dir


def test_created_run_folder_is_closed_to_others(folder: Path) -> None:
    paths = RuntimePaths(folder / "var")
    paths.create()
    paths.run_dir.chmod(0o755)
    paths.create()
    assert stat.S_IMODE(paths.run_dir.stat().st_mode) == 0o700
    assert paths.log_dir.is_dir()
    assert paths.redis_dir.is_dir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_run_folder_of_somebody_else_is_refused(folder: Path) -> None:
    paths = RuntimePaths(folder)
    paths.run_dir.mkdir()
    os.chown(paths.run_dir, 12345, 12345)
    with pytest.raises(PermissionError, match="another user"):
        paths.create()
