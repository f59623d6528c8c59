"""The agent's own suite, run with its own packages; each of its tests is reported here."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from tests.client_envs import client_python

PROJECT: Final = Path(__file__).resolve().parents[2]
INSIDE: Final = Path(__file__).resolve().parent / "inside"
SECONDS: Final = 300
BAD: Final = {"failure", "error", "skipped"}


def written() -> Iterator[str]:
    """The tests there, as `file::function`."""
    for path in sorted(INSIDE.glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            name = getattr(node, "name", "")
            if name.startswith("test_"):
                yield f"{path.stem}::{name}"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What each of them came to, for all its parameters: nothing where it passed, else what was said."""
    report = tmp_path_factory.mktemp("inside") / "report.xml"
    done = subprocess.run(
        [
            *(str(client_python("langchain")), "-m", "pytest", str(INSIDE), "-q"),
            *("-c", str(INSIDE / "pytest.ini"), f"--rootdir={PROJECT}", f"--confcutdir={INSIDE}"),
            f"--junitxml={report}",
        ],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - our own report
        file = str(case.get("classname")).rpartition(".")[2]
        name = str(case.get("name")).partition("[")[0]
        said = "".join(f"{case.get('name')}: {part.text}" for part in case if part.tag in BAD)
        found.setdefault(f"{file}::{name}", []).append(said)
    return found


@pytest.mark.parametrize("test", list(written()))
def test_inside(test: str, outcomes: dict[str, list[str]]) -> None:
    assert outcomes.get(test), "it did not run"
    wrong = "\n".join(filter(None, outcomes[test]))
    if wrong:
        pytest.fail(wrong, pytrace=False)
