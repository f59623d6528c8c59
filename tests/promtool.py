"""Prometheus' own checker, `promtool`: the installed one, or that of Debian's package `prometheus`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.cached_installs import InstallFailed, installed_once, run_installer

MISSING = (
    "promtool is neither on the PATH nor could it be fetched. Install the package `prometheus`, or let "
    "`apt-get download` and `dpkg-deb` work here."
)


def promtool() -> Path:
    """The program.

    Raises:
        InstallFailed: it is nowhere to be had; the text says what to install.
    """
    if found := shutil.which("promtool"):
        return Path(found)
    try:
        folder = installed_once("prometheus", Path(__file__), _fetch)
    except InstallFailed as fault:
        raise InstallFailed(f"{MISSING}\n{fault}") from fault
    return folder / "usr" / "bin" / "promtool"


def checked(metrics: bytes) -> str:
    """What `promtool check metrics` has to say about a scrape; empty when all is well."""
    done = subprocess.run(
        [promtool(), "check", "metrics"], input=metrics, capture_output=True, check=False
    )
    said = (done.stdout + done.stderr).decode()
    return said or (f"ended with {done.returncode}" if done.returncode else "")


def checked_queries(expressions: Iterable[str], folder: Path) -> str:
    """What is wrong with PromQL expressions; empty when nothing is."""
    rules = [{"record": f"query:{place}", "expr": text} for place, text in enumerate(expressions)]
    # YAML takes JSON as it is.
    path = folder / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
    done = subprocess.run(
        [promtool(), "check", "rules", path], capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def _fetch(folder: Path) -> None:
    run_installer(["apt-get", "download", "prometheus"], folder, os.environ)
    for package in folder.glob("prometheus_*.deb"):
        run_installer(["dpkg-deb", "-x", package.name, "."], folder, os.environ)
        package.unlink()
    if not (folder / "usr" / "bin" / "promtool").exists():
        raise InstallFailed("the package `prometheus` holds no usr/bin/promtool")
