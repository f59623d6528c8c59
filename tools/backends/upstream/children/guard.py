"""Runs a command and answers for it: when this or the process that started it ends, nothing is left.

A program of its own, with the standard library only: `guard.py LIFELINE REPORT MEMORY_MB COMMAND…`.
The command gets this program's standard streams, so that nothing stands between it and its caller.
LIFELINE is the read end of a pipe that its caller holds open for as long as the command may run.
To REPORT go the lines `started PID`, `failed REASON`, `memory` and `ended STATUS`, where the status is
negative for a signal; its end of file is the end of this process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# After a request to end.
PATIENCE_SECONDS = 2.0
# For processes that even a kill does not end at once, being inside the kernel.
KILL_SECONDS = 5.0
LOOK_SECONDS = 1.0
LOOKS_PER_SEARCH = 3
MEMORY_STATUS = 250
_CHILDREN_FILES = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class Guard:
    """One command and all processes that come of it."""

    def __init__(self, lifeline: int, report: int, most_bytes: int) -> None:
        self.lifeline = lifeline
        self.report = report
        self.most_bytes = most_bytes
        self.pid = 0
        self.status: int | None = None
        self.stopping = False
        self.caller = os.getppid()

    def tell(self, line: str) -> None:
        """Report; the caller may be gone."""
        with contextlib.suppress(OSError):
            os.write(self.report, f"{line}\n".encode(errors="replace"))

    def start(self, command: list[str]) -> bool:
        """Start the command; False when it cannot be."""
        faults, fault_end = os.pipe()
        guard = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _become(command, guard, fault_end)
        os.close(fault_end)
        fault = os.read(faults, 4096).decode(errors="replace")
        os.close(faults)
        if fault:
            self.tell(f"failed {fault}")
            return False
        _let_go_of_streams()
        self.tell(f"started {self.pid}")
        return True

    def watch(self) -> bool:
        """Wait until it is over; False when the command took too much memory."""
        waking, wake_end = os.pipe()
        os.set_blocking(waking, False)
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._stop)
        poller = select.poll()
        poller.register(self.lifeline, select.POLLIN)
        poller.register(waking, select.POLLIN)
        tree: list[int] = []
        looks = 0
        while self.reap() and self.status is None and not self.stopping:
            for ready, _ in poller.poll(LOOK_SECONDS * 1000):
                if ready == self.lifeline:
                    self.stopping = True
                else:
                    os.read(waking, 4096)
            # Another process may have inherited the lifeline; who our parent is cannot be mistaken.
            self.stopping = self.stopping or os.getppid() != self.caller
            # Looking at what is known is cheap, looking for more is not everywhere.
            if looks % LOOKS_PER_SEARCH == 0:
                tree = descendants(os.getpid())
            looks += 1
            if memory(tree) > self.most_bytes:
                # A number may belong to somebody else by now.
                tree = descendants(os.getpid())
                if memory(tree) > self.most_bytes:
                    return False
        return True

    def end(self, patience: float) -> None:
        """End everything: asked first, killed after `patience` seconds."""
        deadline = time.monotonic() + patience
        if patience and self.reap():
            self._signal_all(signal.SIGTERM)
        while self.reap() and time.monotonic() < deadline:
            time.sleep(0.01)
        deadline = time.monotonic() + KILL_SECONDS
        # Orphans become our children, so that when there are no more children there is nobody left.
        while self.reap() and time.monotonic() < deadline:
            self._signal_all(signal.SIGKILL)
            time.sleep(0.005)

    def reap(self) -> bool:
        """Take in those who ended; False when there are no children any more."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.tell(f"ended {self.status}")

    def _signal_all(self, number: signal.Signals) -> None:
        if self.status is None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _stop(self, *_: object) -> None:
        self.stopping = True


def _become(command: list[str], guard: int, fault_end: int) -> None:
    """Turn this new process into the command; never returns."""
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(127)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)  # noqa: S606 - the settings list it, and no shell reads it
    except OSError as fault:
        os.write(fault_end, (fault.strerror or "it cannot be started").encode())
    finally:
        os._exit(127)


def _let_go_of_streams() -> None:
    """The streams are the command's: the caller must see them end with it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def _prctl(option: int, value: int) -> None:
    """Set a property of this process where the system has it; elsewhere the lifeline must do."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def descendants(root: int) -> list[int]:
    """All processes that come of `root`, without itself."""
    parents = None if _CHILDREN_FILES else _all_children()
    found: list[int] = []
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        new = _children(pid) if parents is None else parents.get(pid, [])
        found += new
        waiting += new
    return found


def memory(pids: list[int]) -> int:
    """The bytes these processes keep in memory; what they share counts for each."""
    pages = 0
    for pid in pids:
        with (
            contextlib.suppress(OSError, ValueError, IndexError),
            open(f"/proc/{pid}/statm") as file,
        ):
            pages += int(file.read().split()[1])
    return pages * resource.getpagesize()


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as file:
                found += map(int, file.read().split())
    return found


def _all_children() -> dict[int, list[int]]:
    """The children of every process, for kernels that do not list them by parent."""
    found: dict[int, list[int]] = {}
    names = os.listdir("/proc") if os.path.isdir("/proc") else []
    for name in filter(str.isdigit, names):
        with (
            contextlib.suppress(OSError, IndexError, ValueError),
            open(f"/proc/{name}/stat") as file,
        ):
            parent = int(file.read().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(name))
    return found


def main(arguments: list[str]) -> int:
    """Run the command to its end, and everything it started to theirs."""
    lifeline, report, memory_mb = map(int, arguments[:3])
    for number in (lifeline, report):
        os.set_inheritable(number, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    guard = Guard(lifeline, report, memory_mb << 20)
    if not guard.start(arguments[3:]):
        return 127
    within = guard.watch()
    if not within:
        guard.tell("memory")
    guard.end(PATIENCE_SECONDS if within else 0)
    if not within:
        return MEMORY_STATUS
    status = guard.status if guard.status is not None else -signal.SIGKILL
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
