"""Which control plane runs from a state folder: one at a time, and where it listens."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from controlplane.runtime.control import NotRunning, SupervisorClient
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.refusal import StartRefused
from controlplane.runtime.service import local_address


@dataclass(frozen=True, slots=True)
class Instance:
    """Where the running web processes listen, and what the command line said about it."""

    host: str
    port: int
    host_flag: str | None = None
    port_flag: int | None = None

    @property
    def address(self) -> str:
        return local_address(self.host, self.port)

    def write(self, paths: RuntimePaths) -> None:
        paths.instance_file.write_text(json.dumps(asdict(self)))


def read_instance(paths: RuntimePaths) -> Instance | None:
    """The instance of the last start; None when there was none or its file is damaged."""
    try:
        return Instance(**json.loads(paths.instance_file.read_text()))
    except (OSError, ValueError, TypeError):
        return None


@contextmanager
def sole_starter(paths: RuntimePaths) -> Iterator[None]:
    """Hold the right to start and oversee the processes of this folder.

    Raises:
        StartRefused: when somebody else holds it, or a supervisor runs already.
    """
    descriptor = os.open(paths.start_lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartRefused(_already_running(paths, _holder(descriptor))) from None
        running = SupervisorClient(paths)
        if running.alive():
            raise StartRefused(_already_running(paths, running.pid()))
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> int | None:
    text = os.pread(descriptor, 20, 0)
    return int(text) if text.isdigit() else None


def _already_running(paths: RuntimePaths, pid: int | None) -> str:
    instance = read_instance(paths)
    process = f" (process {pid})" if pid else ""
    place = f" at {instance.address}" if instance and _answers(paths) else ""
    return (
        f"A control plane is already running from {paths.var_dir}{place}{process}. "
        "Look at it with `manage.py services status`, stop it with `manage.py services stop`, "
        "or start a second one with another VAR_DIR and SERVICE__PORT."
    )


def _answers(paths: RuntimePaths) -> bool:
    try:
        SupervisorClient(paths).processes()
    except NotRunning:
        return False
    return True
