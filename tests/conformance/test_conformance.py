"""Every scenario the suite requires of a server passes, in both eras; the rest is explained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conformance.app import application
from tests.conformance.rows import fill_catalogue
from tests.conformance.served import served
from tests.conformance.suite import Outcome, requirements, run_suite
from tests.project.pages import REFERENCE, names, read, rows, section
from tests.workers import celery_worker

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
WITHOUT_SESSIONS = "2025-11-25 without sessions"
PAGE = REFERENCE / "mcp-conformance.md"


@pytest.fixture
def catalogue(transactional_db: None, redis_url: str) -> None:
    """The rows that the suite asks for."""
    fill_catalogue()


def explained(heading: str, run: str) -> set[str]:
    """The scenarios that the page names under a heading for one run."""
    table = rows(section(read(PAGE), heading))
    return {name for row in table if row[0] == run for name in names(row[1])}


def counted(run: str) -> list[int]:
    """Required, passed, not scored, passed: as the page states them."""
    return next([int(cell) for cell in row[1:]] for row in rows(read(PAGE)) if row[0] == run)


def counts(outcomes: Mapping[str, Outcome], revision: str) -> list[int]:
    """The same, as they came out now."""
    asked = requirements(revision)
    figures = []
    for scenarios in (asked.required, asked.not_scored):
        figures += [len(scenarios), sum(outcomes[name].passed for name in scenarios)]
    return figures


def as_explained(outcomes: Mapping[str, Outcome], run: str) -> None:
    """What failed and what was warned about is what the page names, no more and no less."""
    failed = {name: one.failures for name, one in outcomes.items() if one.failures}
    warned = {name: one.warnings for name, one in outcomes.items() if one.warnings}
    unproven = {name for name, one in outcomes.items() if one.passed and not one.successes}
    assert set(failed) == explained("## Not passed", run), failed
    assert unproven == explained("## Passed without proof", run)
    assert set(warned) == explained("## Warnings", run), warned


@pytest.mark.usefixtures("catalogue")
def test_all_37_required_scenarios_of_the_stateless_era_pass(tmp_path: Path) -> None:
    worker = celery_worker(
        tmp_path / "worker.log", 3, DJANGO_SETTINGS_MODULE="tests.conformance.settings"
    )
    with worker, served(application(stateless=True)) as url:
        outcomes = run_suite(f"{url}/mcp", MODERN, tmp_path / "results")
    assert counts(outcomes, MODERN) == counted(MODERN)
    assert counted(MODERN)[:2] == [37, 37]
    as_explained(outcomes, MODERN)
    tasks = {name: one for name, one in outcomes.items() if name.startswith("tasks-")}
    assert len(tasks) == 10
    proven = {name for name, one in tasks.items() if one.passed and one.successes}
    assert explained("## Tasks", "passed") == proven
    assert explained("## Tasks", "left out by the suite") == {
        name for name, one in tasks.items() if not one.successes
    }


@pytest.mark.usefixtures("catalogue")
def test_all_33_scenarios_of_the_handshake_era_pass_with_sessions(tmp_path: Path) -> None:
    with served(application(stateless=False)) as url:
        outcomes = run_suite(f"{url}/mcp", HANDSHAKE, tmp_path / "results")
    assert counts(outcomes, HANDSHAKE) == counted(HANDSHAKE) == [30, 30, 3, 3]
    as_explained(outcomes, HANDSHAKE)


@pytest.mark.usefixtures("catalogue")
def test_without_sessions_only_what_asks_the_client_back_fails(tmp_path: Path) -> None:
    with served(application(stateless=True)) as url:
        outcomes = run_suite(f"{url}/mcp", HANDSHAKE, tmp_path / "results")
    assert counts(outcomes, HANDSHAKE) == counted(WITHOUT_SESSIONS)
    as_explained(outcomes, WITHOUT_SESSIONS)
