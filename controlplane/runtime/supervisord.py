"""supervisord with two habits changed: it never gives up on a process, and it looks more often.

Run as `python -m controlplane.runtime.supervisord -c FILE -n`. As shipped, supervisord waits one
second longer after each failed start, without bound, and ends in FATAL; restarts a process that
fails a little later in a tight loop; and notices signals and ended processes once a second. Here a
process that does not stay up is tried again after a short pause for as long as it takes, so that
it is back soon after whatever it lacked has returned.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from supervisor import process, supervisord
from supervisor.options import ServerOptions
from supervisor.poller import Poller
from supervisor.states import ProcessStates, SupervisorStates
from typing_extensions import override

POLL_SECONDS = 0.2
SHORT_LIFE = 10.0
# A crash is mended within seconds; what fails ten times running needs no hurry.
PAUSE = 1.0
FAILURES_IN_A_HURRY = 10
LONG_PAUSE = 4.0


class PersistentProcess(process.Subprocess):  # type: ignore[misc] # supervisor has no types
    """A process that is started again for as long as it takes."""

    state: int
    delay: float
    short_lives = 0

    @override
    def change_state(self, new_state: int, expected: bool = True) -> Any:
        changed = super().change_state(new_state, expected)
        if new_state == ProcessStates.BACKOFF:
            # What counts towards giving up stays at one.
            self.backoff = 1
            self.delay = time.time() + self._pause()
        return changed

    @override
    def finish(self, pid: int, sts: int) -> None:
        failed = not self.killing and time.time() - self.laststart < SHORT_LIFE
        self.short_lives = self.short_lives + 1 if failed else 0
        super().finish(pid, sts)
        if failed and self.state == ProcessStates.EXITED:
            self.delay = time.time() + self._pause()

    @override
    def transition(self) -> None:
        if self.state == ProcessStates.EXITED and time.time() < self.delay:
            return
        super().transition()

    def _pause(self) -> float:
        return PAUSE if self.short_lives <= FAILURES_IN_A_HURRY else LONG_PAUSE


class BriskPoller(Poller):  # type: ignore[misc] # supervisor has no types
    """Python restarts an interrupted poll, so signals are noticed only when it ends."""

    @override
    def poll(self, timeout: float) -> Any:
        return super().poll(min(timeout, POLL_SECONDS))


def main(arguments: list[str]) -> None:
    """Run until told to stop; SIGHUP reads the file again and restarts everything."""
    process.Subprocess = PersistentProcess
    first = True
    while True:
        options = ServerOptions()
        options.poller = BriskPoller(options)
        options.realize(arguments, doc=supervisord.__doc__)
        options.first = first
        options.test = False
        supervisord.go(options)
        options.close_httpservers()
        options.close_logger()
        first = False
        if options.mood < SupervisorStates.RESTARTING:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
