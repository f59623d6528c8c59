"""A whole control plane of real processes in a folder and on a port of its own."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

from controlplane.env import PROJECT_DIR, SERVICE_OVERRIDES, VARIABLES
from controlplane.runtime.control import NotRunning, ProcessState, SupervisorClient
from controlplane.runtime.orphans import find_orphans, stop_orphans
from controlplane.runtime.paths import RuntimePaths
from tests.processes import wait_until
from tools.mcp_server.listener import VARIABLES as LISTENER_VARIABLES

OURS = {variable.name for variable in VARIABLES} | {name for name, _ in SERVICE_OVERRIDES}
OURS |= {name for name, *_ in LISTENER_VARIABLES}
# Guards, far above what is promised: a stop may take five seconds to ask and five to force, which
# `stop_seconds` tells by its own clock, and how soon a start is over is measured where that is the question.
ENDS_WITHIN: Final = 30.0
STARTS_WITHIN: Final = 180.0
DATABASE: Final = "controlplane.sqlite3"
MANAGE = [sys.executable, str(PROJECT_DIR / "manage.py")]


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def short_folder() -> Iterator[Path]:
    """A temporary folder whose path leaves room for sockets; removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="cp-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Stack:
    """One state folder: runs manage.py in it and looks at the processes it started."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.paths = RuntimePaths(folder)
        self.port = int(environment.get("SERVICE__PORT", free_port()))
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        self.environment: Mapping[str, str] = {
            **kept,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "CONTROL_PLANE_TEST_DIR": str(folder),
            "VAR_DIR": str(folder),
            "SERVICE__PORT": str(self.port),
            **environment,
        }
        self.ups: list[Up] = []

    def manage(self, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run a management command to its end."""
        return subprocess.run(
            [*MANAGE, *arguments],
            env={**self.environment, **extra},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def up(self, *arguments: str, corpus: bool = False, **extra: str) -> Up:
        """Start `manage.py up` without waiting for it; the demo corpus is indexed only when asked for."""
        given = arguments if corpus else (*arguments, "--no-corpus")
        started = Up(self, given, {**self.environment, **extra})
        self.ups.append(started)
        return started

    def processes(self) -> dict[str, ProcessState]:
        """What the supervisor says, by name; nothing when there is none."""
        try:
            return {one.name: one for one in SupervisorClient(self.paths).processes()}
        except NotRunning:
            return {}

    def get(self, path: str) -> tuple[int, Any]:
        """GET `path`; status 0 when nobody answers."""
        return self.request("GET", path)

    def call(self, tool: str, **arguments: object) -> tuple[int, Any]:
        """POST /call-tool."""
        return self.request("POST", "/call-tool", {"tool": tool, "arguments": arguments})

    def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            payload = json.dumps(body) if body is not None else None
            connection.request(method, path, body=payload, headers=headers)
            response = connection.getresponse()
            return response.status, _parsed(response.read())
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    def add_tool(self, name: str) -> None:
        """Add a tool on the commandable backend of the tests, and wait until it is served."""
        code = (
            "from tests.factories import make_tool\n"
            f"make_tool(name={name!r}, source='http_api', input_schema={{'type': 'object',"
            " 'properties': {'delay': {'type': 'number'}}})"
        )
        done = self.manage("shell", "--no-imports", "-c", code)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: self.call(name)[0] == 200, what=f"the tool {name}")

    def in_flight(self) -> int:
        """Calls under way, the one that asks included."""
        status, body = self.call("server_metrics")
        return int(body["data"]["in_flight"]) if status == 200 else 0

    def log(self, program: str) -> str:
        path = self.paths.log(program)
        return path.read_text() if path.exists() else ""

    def leftovers(self) -> set[str]:
        """Programs of this folder that are still there, supervised or not."""
        return {orphan.program for orphan in find_orphans(self.paths)}

    def end(self) -> None:
        """Leave nothing behind, whatever the test did."""
        for up in self.ups:
            up.kill()
        pid_file = self.paths.supervisor_pid
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int(pid_file.read_text()), signal.SIGKILL)
        stop_orphans(self.paths, seconds=1)
        shutil.rmtree(self.paths.run_dir, ignore_errors=True)


class Up:
    """One running `manage.py up` and what it has printed so far."""

    def __init__(
        self, stack: Stack, arguments: tuple[str, ...], environment: Mapping[str, str]
    ) -> None:
        self.stack = stack
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by kill
        self.process = subprocess.Popen(
            [*MANAGE, "up", *arguments],
            env=environment,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            # As a shell would: Ctrl-C goes to this group and to nobody else.
            start_new_session=True,
        )

    @property
    def output(self) -> str:
        return os.pread(self._output.fileno(), 1 << 20, 0).decode()

    def wait_until_running(self, seconds: float = STARTS_WITHIN) -> Up:
        """Return once the closing words of the start are out; fail when it ended instead."""

        def welcomed() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"up ended with {self.process.returncode}:\n{self.output}")
            return "Stop  " in self.output

        wait_until(welcomed, seconds, "the welcome")
        return self

    def wait(self, timeout: float = ENDS_WITHIN) -> int:
        """The exit code; what was printed so far when it does not end."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"up did not end in {timeout:.0f} s:\n{self.output}") from None

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.killpg(self.process.pid, signal.SIGINT)

    def password(self) -> str | None:
        found = re.search(r"Password +(\S+)  \(shown only now", self.output)
        return found[1] if found else None

    def stop_seconds(self) -> float:
        """How long everything took to stop, by its own clock."""
        found = re.search(r"Stopped after ([\d.]+) s", self.output)
        assert found, self.output
        return float(found[1])

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._output.close()


@contextmanager
def empty_stack(**environment: str) -> Iterator[Stack]:
    """A stack in an empty folder of its own, ended and removed afterwards."""
    with short_folder() as folder:
        made = Stack(folder, **environment)
        try:
            yield made
        finally:
            made.end()


@contextmanager
def stack(**environment: str) -> Iterator[Stack]:
    """The same with the tables in its database, unless that is elsewhere.

    To make them takes about as long as all the rest of a start.
    """
    with empty_stack(**environment) as made:
        if "DATABASE_URL" not in environment:
            shutil.copyfile(_with_tables(), made.folder / DATABASE)
        yield made


@cache
def _with_tables() -> Path:
    """A database with tables and no rows of ours, made once for a run of the suite."""
    folder = Path(tempfile.mkdtemp(prefix="cp-tables-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    done = Stack(folder).manage("migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    return folder / DATABASE


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
