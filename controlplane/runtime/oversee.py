"""Standing by while the processes run, and stopping them when told to."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from datetime import datetime
from types import FrameType

from controlplane.runtime.control import NotRunning, ProcessState, SupervisorClient
from controlplane.runtime.launch import Launch, stop
from controlplane.runtime.orphans import stop_orphans
from controlplane.runtime.refusal import StartRefused

LOOK_SECONDS = 1.0
TICK_SECONDS = 0.05
SHORTEST_LIFE = 5.0
CLOSELY = 30.0


class StopRequest:
    """Set by the first SIGINT, SIGTERM or SIGHUP (a closed terminal)."""

    def __init__(self) -> None:
        self.made = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.made = True


class Overseer:
    """Waits for the end of a supervisor, tells of restarts, and starts a killed one again."""

    def __init__(
        self,
        launch: Launch,
        supervisor: subprocess.Popen[bytes],
        request: StopRequest,
        say: Callable[[str], None],
    ) -> None:
        self._launch = launch
        self._supervisor = supervisor
        self._request = request
        self._say = say
        self._pids: dict[str, int] = {}
        self._restarts: dict[str, float] = {}
        self._failing: set[str] = set()

    def run(self) -> None:
        """Return when everything has stopped.

        Raises:
            StartRefused: when the supervisor keeps dying.
        """
        started = next_look = time.monotonic()
        while not self._request.made:
            if self._supervisor.poll() is not None:
                if self._supervisor.returncode == 0:
                    self._say("Stopped from elsewhere.")
                    return
                self._revive(time.monotonic() - started)
                started = time.monotonic()
            if time.monotonic() >= next_look:
                self._look()
                next_look = time.monotonic() + LOOK_SECONDS
            time.sleep(TICK_SECONDS)
        self._stop()

    def _stop(self) -> None:
        begun = time.monotonic()
        self._say("\nStopping; calls in flight are finished first.")
        paths, service = self._launch.paths, self._launch.service
        in_time = stop(paths, self._supervisor, service.server_graceful_shutdown_seconds)
        seconds = time.monotonic() - begun
        how = "Stopped" if in_time else "Stopped by force"
        self._say(f"{how} after {seconds:.1f} s.")

    def _revive(self, lived: float) -> None:
        self._say(f"{_clock()}  The supervisor was killed; starting everything again.")
        stop_orphans(self._launch.paths, seconds=5)
        if lived < SHORTEST_LIFE:
            log = self._launch.paths.log("supervisord")
            raise StartRefused(f"The supervisor died {lived:.0f} s after its start; see {log}.")
        self._supervisor = self._launch.start()
        self._pids.clear()

    def _look(self) -> None:
        try:
            processes = SupervisorClient(self._launch.paths).processes()
        except NotRunning:
            return
        for process in processes:
            self._tell_of(process)

    def _tell_of(self, process: ProcessState) -> None:
        """Tell of a restart; of one that follows another closely, once where to look."""
        name = process.name
        if process.running and process.uptime_seconds > CLOSELY:
            self._failing.discard(name)
        before = self._pids.get(name)
        if process.pid:
            self._pids[name] = process.pid
        renewed = process.pid and before not in (None, process.pid)
        if name in self._failing or not (renewed or process.state == "BACKOFF"):
            return
        soon = time.monotonic() - self._restarts.get(name, -CLOSELY) < CLOSELY
        self._restarts[name] = time.monotonic()
        if soon or not renewed:
            self._failing.add(name)
            log = self._launch.paths.log(name)
            self._say(f"{_clock()}  {name} does not stay up and is tried again. See {log}")
        else:
            self._say(f"{_clock()}  {name} was restarted (process {process.pid}).")


def _clock() -> str:
    return datetime.now().astimezone().strftime("%H:%M:%S")
