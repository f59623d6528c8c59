"""Where a process spends its processor time: samples of its main thread, taken by that time.

The profiler of the standard library doubles the cost of a call and so moves what it measures. Here the
kernel interrupts after every few milliseconds of processor time, and the function that runs is noted
with all of that time. Time in C belongs to the function that called it; what libraries do is told
both under their own name and under that of the module of ours they did it for.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

INTERVAL: Final = 0.002
OURS: Final = ("tools", "controlplane", "health")
OTHER_THREADS: Final = "other threads (journal to the database, logging)"
LOOP: Final = "event loop in C: waiting, reading, writing"


class Sampler:
    """Counts seconds by function, by package and by module of ours."""

    def __init__(self) -> None:
        self.functions: dict[str, float] = defaultdict(float)
        self.packages: dict[str, float] = defaultdict(float)
        self.behalf: dict[str, float] = defaultdict(float)
        self._main = self._all = 0.0

    def begin(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Forget what was before; count from now on."""
        for counter in (self.functions, self.packages, self.behalf):
            counter.clear()
        self._main, self._all = time.thread_time(), time.process_time()
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def _sample(self, number: int, frame: FrameType | None) -> None:
        main, everything = time.thread_time(), time.process_time()
        spent, elsewhere = main - self._main, everything - self._all - (main - self._main)
        self._main, self._all = main, everything
        for counter in (self.functions, self.packages, self.behalf):
            counter[OTHER_THREADS] += max(0.0, elsewhere)
        name, package, behalf = _placed(frame)
        self.functions[name] += spent
        self.packages[package] += spent
        self.behalf[behalf] += spent

    def report(self) -> dict[str, Any]:
        signal.setitimer(signal.ITIMER_PROF, 0)
        counters = {"packages": self.packages, "behalf": self.behalf, "functions": self.functions}
        return {
            name: dict(sorted(counter.items(), key=lambda found: -found[1]))
            for name, counter in counters.items()
        }


def _placed(frame: FrameType | None) -> tuple[str, str, str]:
    """The function that runs, its package, and the module of ours it runs for."""
    if frame is None or frame.f_code.co_name in {"run", "run_until_complete", "run_forever"}:
        return LOOP, LOOP, LOOP
    module = str(frame.f_globals.get("__name__", "?"))
    name = f"{module}.{frame.f_code.co_qualname}"
    behalf = "the web server and its libraries"
    walked: FrameType | None = frame
    while walked is not None:
        above = str(walked.f_globals.get("__name__", "?"))
        if above.partition(".")[0] in OURS and not above.startswith("controlplane.management"):
            if above != "controlplane.runtime.server":
                behalf = above
            break
        walked = walked.f_back
    return name, _package(module), behalf


def _package(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:3]) if parts[0] in OURS else parts[0]


@contextmanager
def profiled(output: str) -> Iterator[None]:
    """Sample from SIGUSR1 on, and write what was found to `output` at the end; not at all without one."""
    if not output:
        yield
        return
    assert threading.current_thread() is threading.main_thread()
    sampler = Sampler()
    signal.signal(signal.SIGUSR1, sampler.begin)
    try:
        yield
    finally:
        Path(output).write_text(json.dumps(sampler.report()))


def print_profile(path: Path, calls: int, lines: int = 25) -> None:
    """Say where the time of so many calls went, in microseconds per call."""
    found = json.loads(path.read_text())
    titles = {
        "packages": "self time by package",
        "behalf": "time by module of ours, libraries it called included",
        "functions": "self time by function",
    }
    for key, title in titles.items():
        total = sum(found[key].values())
        sys.stdout.write(f"\n{title}, us per call of {total / calls * 1e6:.0f}\n")
        for name, seconds in list(found[key].items())[:lines]:
            sys.stdout.write(f"{seconds / calls * 1e6:8.1f}  {seconds / total:5.1%}  {name}\n")
