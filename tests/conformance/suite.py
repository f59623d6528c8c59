"""Runs the conformance suite and reads what it found."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.node_env import NODE, node_environment, node_packages

SUITE_SECONDS: Final = 300
_FOLDER: Final = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT.*")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One scenario: what succeeded and failed, and what the suite only warned about or left out."""

    successes: tuple[str, ...]
    failures: tuple[str, ...]
    warnings: tuple[str, ...]
    skipped: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """As the suite counts: nothing failed, even if nothing was checked."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class Requirements:
    """The scenarios of one revision: those that count, and those only reported."""

    required: tuple[str, ...]
    not_scored: tuple[str, ...]


def package() -> Path:
    """The suite's own folder."""
    return node_packages() / "@modelcontextprotocol" / "conformance"


def requirements(revision: str) -> Requirements:
    """What the suite itself says a revision requires of a server."""
    stated = yaml.safe_load((package() / "requirements" / f"{revision}.yaml").read_text())
    others = [one["scenario"] for one in stated["not_scored"] if one["leg"] == "server"]
    return Requirements(tuple(stated["server"]), tuple(others))


def run_suite(url: str, revision: str, folder: Path) -> Mapping[str, Outcome]:
    """Run every scenario of `revision` against `url`; outcomes by scenario."""
    command = [str(NODE), str(package() / "dist" / "index.js"), "server", "--url", url]
    done = subprocess.run(
        [*command, "--requirements", revision, "-o", str(folder)],
        env=dict(node_environment()),
        capture_output=True,
        text=True,
        timeout=SUITE_SECONDS,
        check=False,
    )
    outcomes = {
        found["scenario"]: _outcome(json.loads((path / "checks.json").read_text()))
        for path in sorted(folder.iterdir())
        if (found := _FOLDER.fullmatch(path.name))
    }
    assert outcomes, f"The suite ran nothing:\n{done.stdout}{done.stderr}"
    return outcomes


def _outcome(checks: list[dict[str, Any]]) -> Outcome:
    def told(status: str) -> tuple[str, ...]:
        return tuple(
            f"{check['id']}: {check.get('errorMessage', '')}"
            for check in checks
            if check["status"] == status
        )

    return Outcome(told("SUCCESS"), told("FAILURE"), told("WARNING"), told("SKIPPED"))
