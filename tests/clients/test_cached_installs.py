"""What tests need is installed once, whole, and by one run at a time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests import cached_installs
from tests.cached_installs import InstallFailed, installed_once, run_installer


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of versions, with an empty cache."""
    monkeypatch.setattr(cached_installs, "CACHE", tmp_path / "cache")
    path = tmp_path / "pins.txt"
    path.write_text("one==1\n")
    return path


def test_runs_at_the_same_time_install_once(pins: Path) -> None:
    installs: list[Path] = []
    both = threading.Barrier(2)

    def need() -> None:
        both.wait(10)
        installed_once("parts", pins, installs.append)

    runs = [threading.Thread(target=need) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(10)
    assert len(installs) == 1


def test_an_install_that_broke_off_is_made_anew(pins: Path) -> None:
    def break_off(folder: Path) -> None:
        (folder / "half").touch()
        raise InstallFailed("no network")

    with pytest.raises(InstallFailed):
        installed_once("parts", pins, break_off)
    folder = installed_once("parts", pins, lambda folder: (folder / "whole").touch())
    assert {path.name for path in folder.iterdir()} == {"whole", ".complete"}


def test_other_versions_take_the_place_of_the_old_ones(pins: Path) -> None:
    old = installed_once("parts", pins, lambda folder: None)
    pins.write_text("one==2\n")
    new = installed_once("parts", pins, lambda folder: None)
    assert new != old
    assert not old.exists()


def test_a_failing_installer_says_what_it_tried_and_what_came_of_it(tmp_path: Path) -> None:
    with pytest.raises(InstallFailed, match=r"(?s)cat nowhere.*nowhere: No such file"):
        run_installer(["cat", "nowhere"], tmp_path, {"LC_ALL": "C", "PATH": "/usr/bin:/bin"})


def test_a_missing_installer_is_named(tmp_path: Path) -> None:
    with pytest.raises(InstallFailed, match="no-such-program"):
        run_installer(["no-such-program"], tmp_path, {})
