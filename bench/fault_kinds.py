"""The faults of an upstream server that are measured, each as what is done to it and to its callers."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from bench.faults_stage import Answer, Plane
from tests.mcp_upstream import HttpUpstream, Record
from tests.processes import wait_until

ASK_EVERY: Final = 0.05
LONGEST_RECOVERY: Final = 60.0


@dataclass
class Result:
    """What a fault came to. `afterwards` is what callers got while it lasted."""

    tool: str
    answer: str
    seconds: float
    afterwards: str = ""
    recovery: str = ""
    executed: str = ""
    calls: int = 0
    lost: int = 0


@dataclass
class Subject:
    """A server and its callers."""

    plane: Plane
    hand: Record
    prefix: str
    rounds: int

    def begin(self) -> None:
        """Everything works."""
        answer = self.call("echo", text="well")
        assert answer.good, answer

    def call(self, tool: str, **arguments: object) -> Answer:
        return self.plane.call(f"{self.prefix}{tool}", **arguments)

    def times(self, tool: str) -> str:
        """How often a tool ran so far."""
        return str(len(self.hand.executions(tool)))

    def signal(self, number: signal.Signals) -> None:
        """To the server's process, whatever its transport."""
        os.kill(self.hand.alive()[-1], number)

    def restart(self) -> None:
        """End it with -9 and have it again; a child comes back with the next call."""
        if isinstance(self.hand, HttpUpstream):
            self.hand.kill()
            self.hand.start()
        else:
            self.signal(signal.SIGKILL)
            wait_until(lambda: not self.hand.alive(), what="a child's end")

    def bring_back(self) -> None:
        if isinstance(self.hand, HttpUpstream):
            self.hand.start()

    def recover(self) -> str:
        """How long it takes from now to the end of the first good call."""
        began = time.monotonic()
        while time.monotonic() - began < LONGEST_RECOVERY:
            if self.call("echo", text="again").good:
                return f"{time.monotonic() - began:.2f} s"
            time.sleep(ASK_EVERY)
        return f"none in {LONGEST_RECOVERY:g} s"


Run = Callable[[Subject], Result]


@dataclass(frozen=True)
class Fault:
    """One row of the table, or one for each transport."""

    slug: str
    title: str
    run: Run
    transports: tuple[str, ...] = ()


def told(answer: Answer) -> str:
    """The code of an answer and its status."""
    return f"`{answer.code}` {answer.status}" if answer.code else str(answer.status)


def summed(answers: list[Answer]) -> str:
    """Several answers: their codes, and the longest time."""
    kinds = ", ".join(dict.fromkeys(told(answer) for answer in answers))
    return f"{kinds} in at most {max(answer.seconds for answer in answers):.2f} s"


def killed_unsafe(subject: Subject) -> Result:
    subject.hand.set(crash_calls=1)
    answer = subject.call("counted", key="once")
    subject.bring_back()
    recovery = subject.recover()
    return Result(
        "changes things", told(answer), answer.seconds, "", recovery, subject.times("counted")
    )


def killed_safe(subject: Subject) -> Result:
    subject.hand.set(crash_calls=1)
    repair = threading.Timer(0.5, subject.bring_back)
    repair.start()
    answer = subject.call("sleep", ms=100)
    repair.join()
    return Result(
        "read-only", told(answer), answer.seconds, "", "by its retry", subject.times("sleep")
    )


def frozen(subject: Subject) -> Result:
    subject.signal(signal.SIGSTOP)
    stopped = subject.hand.alive()[-1]
    answer = subject.call("counted", key="frozen")
    more = [subject.call("counted", key="more") for _ in range(2)]
    # A child that hangs is ended, and another one started.
    with suppress(ProcessLookupError):
        os.kill(stopped, signal.SIGCONT)
    return Result("changes things", told(answer), answer.seconds, summed(more), subject.recover())


def hanging(subject: Subject) -> Result:
    subject.hand.set(hang="call")
    answer = subject.call("counted", key="hanging")
    subject.hand.set(hang="")
    return Result("changes things", told(answer), answer.seconds, "", subject.recover())


def slow(subject: Subject) -> Result:
    subject.hand.set(delay_ms=2000)
    answer = subject.call("counted", key="slow")
    subject.hand.set(delay_ms=0)
    return Result("changes things", told(answer), answer.seconds, "", "not needed")


def too_slow(subject: Subject) -> Result:
    subject.hand.set(delay_ms=8000)
    answer = subject.call("echo", text="too slow")
    subject.hand.set(delay_ms=0)
    return Result("read-only", told(answer), answer.seconds, "", subject.recover())


def garbage(subject: Subject) -> Result:
    subject.hand.set(garbage=True)
    answer = subject.call("echo", text="garbage")
    more = [subject.call("echo", text="garbage") for _ in range(2)]
    subject.hand.set(garbage=False)
    return Result("read-only", told(answer), answer.seconds, summed(more), subject.recover())


def restarted(subject: Subject) -> Result:
    subject.restart()
    answer = subject.call("counted", key="restarted")
    executed = subject.times("counted")
    return Result("changes things", told(answer), answer.seconds, "", "not needed", executed)


def many_restarts(subject: Subject) -> Result:
    answers = []
    for number in range(subject.rounds):
        subject.restart()
        answers.append(subject.call("counted", key=str(number)))
    worst = max(answers, key=lambda answer: (not answer.good, answer.seconds))
    executed = subject.times("counted")
    good = f"{sum(answer.good for answer in answers)} of {len(answers)} good"
    return Result("changes things", told(worst), worst.seconds, good, "not needed", executed)


def gone(subject: Subject) -> Result:
    """Called before anybody has noticed that it is down."""
    assert isinstance(subject.hand, HttpUpstream)
    subject.hand.kill()
    answer = subject.call("echo", text="gone")
    assert subject.prefix.strip("_").replace("_", "-") in answer.message, answer
    subject.hand.start()
    return Result("read-only", told(answer), answer.seconds, "", subject.recover())


def closed(subject: Subject) -> Result:
    """Down for long enough to be known as such."""
    assert isinstance(subject.hand, HttpUpstream)
    subject.hand.kill()
    time.sleep(1)
    answer = subject.call("echo", text="closed")
    assert subject.prefix.strip("_").replace("_", "-") in answer.message, answer
    more = [subject.call("counted", key="closed") for _ in range(2)]
    subject.hand.start()
    return Result("read-only", told(answer), answer.seconds, summed(more), subject.recover())


def broken(subject: Subject) -> Result:
    """So often down that its breaker is open."""
    assert isinstance(subject.hand, HttpUpstream)
    subject.hand.kill()
    for _ in range(5):
        subject.call("counted", key="closed")
    answer = subject.call("echo", text="refused")
    assert subject.prefix.strip("_").replace("_", "-") in answer.message, answer
    more = [subject.call("echo", text="refused") for _ in range(2)]
    subject.hand.start()
    return Result("read-only", told(answer), answer.seconds, summed(more), subject.recover())


FAULTS: Final = (
    Fault("kill", "Killed with -9 in the middle of a call", killed_unsafe),
    Fault("rekill", "Killed with -9 in the middle of a call", killed_safe),
    Fault("frozen", "Stopped dead (SIGSTOP)", frozen),
    Fault("hang", "Never answers calls", hanging),
    Fault("slow", "Answers after 2 s", slow),
    Fault("late", "Answers after 8 s", too_slow),
    Fault("garbage", "Answers with what is not JSON", garbage),
    Fault("restart", "Restarted between two calls", restarted),
    Fault("restarts", "Restarted many times in a row", many_restarts),
    Fault("gone", "Gone since a moment, its port closed", gone, ("http",)),
    Fault("closed", "Gone for a second, its port closed", closed, ("http",)),
    Fault("breaker", "Gone, its breaker open", broken, ("http",)),
)
