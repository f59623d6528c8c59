"""The import rules hold, and each of them bites when it is broken."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINTER), "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
    )


def test_the_import_rules_hold() -> None:
    result = lint(PROJECT)
    assert result.returncode == 0, result.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name in ("agent", "controlplane", "health", "tools"):
        shutil.copytree(PROJECT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / ".importlinter", root)
    return root


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("tools/api/views.py", "import tools.models"),
        ("tools/api/views.py", "import tools.backends.registry"),
        ("tools/api/views.py", "import tools.guards.rate"),
        ("tools/api/views.py", "import tools.admin"),
        ("tools/admin/__init__.py", "import tools.backends.builtin"),
        ("tools/execution/admission.py", "import tools.execution.journal"),
        ("tools/execution/lookup.py", "import tools.models"),
        ("tools/execution/execute.py", "import tools.services.issue_key"),
        ("tools/backends/builtin.py", "import tools.execution"),
        ("tools/contracts.py", "import django"),
        ("tools/context/tokens.py", "import redis"),
        ("tools/services/issue_key.py", "import rest_framework"),
        ("tools/execution/execute.py", "import health.status"),
        ("health/status.py", "import controlplane.settings"),
        ("agent/settings.py", "import tools.conf"),
        ("agent/serve.py", "import django"),
        ("tools/conf.py", "import agent.settings"),
        ("tools/oauth/claims.py", "import django"),
        ("tools/oauth/claims.py", "import httpx2"),
        ("tools/oauth/claims.py", "import tools.selectors"),
        ("tools/utils.py", "import tools.contracts"),
    ],
)
def test_a_seeded_violation_breaks_the_check(copy: Path, module: str, line: str) -> None:
    target = copy / module
    before = target.read_text() if target.exists() else None
    target.write_text(f"{before or ''}\n{line}\n")
    try:
        result = lint(copy)
    finally:
        if before is None:
            target.unlink()
        else:
            target.write_text(before)
    assert result.returncode != 0, f"{line} in {module} went unnoticed"
    assert "BROKEN" in result.stdout or "exhaustive" in result.stdout.lower()
