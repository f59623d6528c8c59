"""Talking to a running supervisord over its socket."""

from __future__ import annotations

import http.client
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xmlrpc.client import Fault, ProtocolError, ServerProxy

from supervisor.xmlrpc import Faults, SupervisorTransport, UnixStreamHTTPConnection
from typing_extensions import override

from controlplane.runtime.paths import RuntimePaths

ANSWER_SECONDS = 3.0
POLL_SECONDS = 0.1
HARMLESS = frozenset({Faults.ALREADY_STARTED, Faults.NOT_RUNNING})
GONE = (OSError, http.client.HTTPException, ProtocolError)


class NotRunning(Exception):
    """No supervisor answers in this state folder."""


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One supervised process as supervisord sees it."""

    name: str
    group: str
    state: str
    pid: int
    uptime_seconds: int

    @property
    def running(self) -> bool:
        return self.state == "RUNNING"

    @property
    def stopped(self) -> bool:
        return self.state in {"STOPPED", "EXITED", "FATAL"}


class _Connection(UnixStreamHTTPConnection):  # type: ignore[misc] # supervisor has no types
    """Gives up on a supervisord that hangs."""

    @override
    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(ANSWER_SECONDS)
        self.sock.connect(self.socketfile)


class SupervisorClient:
    """The supervisor of one state folder. Every method raises `NotRunning` when there is none."""

    def __init__(self, paths: RuntimePaths) -> None:
        self._paths = paths
        self._transport = SupervisorTransport(serverurl=f"unix://{paths.supervisor_socket}")
        self._transport._get_connection = self._connect
        self._proxy = ServerProxy("http://supervisor", transport=self._transport)

    def alive(self) -> bool:
        """Whether a supervisor answers."""
        try:
            self.pid()
        except NotRunning:
            return False
        return True

    def pid(self) -> int:
        return int(self._call("getPID"))

    def processes(self) -> list[ProcessState]:
        """All processes, Redis first."""
        found = [
            ProcessState(
                name=info["name"],
                group=info["group"],
                state=info["statename"],
                pid=info["pid"],
                uptime_seconds=max(0, info["now"] - info["start"]) if info["pid"] else 0,
            )
            for info in self._call("getAllProcessInfo")
        ]
        order = {"redis": 0, "web": 1, "worker": 2, "pipelines": 3, "beat": 4}
        return sorted(found, key=lambda one: (order.get(one.name.split("-")[0], 9), one.name))

    def start(self, process: ProcessState) -> None:
        self._call("startProcess", f"{process.group}:{process.name}", False)

    def stop(self, process: ProcessState) -> None:
        self._call("stopProcess", f"{process.group}:{process.name}", False)

    def signal(self, process: ProcessState, name: str) -> None:
        """Send a signal by its name without `SIG`."""
        self._call("signalProcess", f"{process.group}:{process.name}", name)

    def shutdown(self) -> None:
        """Tell the supervisor to stop everything and itself; does not wait for it."""
        self._call("shutdown")

    def restart(self) -> None:
        """Tell the supervisor to stop everything and start again from its file; does not wait."""
        self._call("restart")

    def _connect(self) -> _Connection:
        connection = _Connection("localhost")
        connection.socketfile = str(self._paths.supervisor_socket)
        return connection

    def _call(self, method: str, *arguments: object) -> Any:
        try:
            return getattr(self._proxy.supervisor, method)(*arguments)
        except Fault as fault:
            if fault.faultCode in HARMLESS:
                return None
            if fault.faultCode == Faults.SHUTDOWN_STATE:
                raise NotRunning("The supervisor is stopping") from None
            raise
        except GONE:
            raise NotRunning("No supervisor answers") from None
        finally:
            self._transport.close()


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll until `condition` holds; False when it did not within the time given."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= limit:
            return False
        time.sleep(POLL_SECONDS)
    return True


def process_lives(pid: int) -> bool:
    """Whether a process with that id runs; one that ended and was not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        # The state follows the name, which is in brackets and may hold anything.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True
