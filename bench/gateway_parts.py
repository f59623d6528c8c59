"""The processes of the gateway bench: what stands on the core of the gateway, what on the other."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.gateway_load import Door
from bench.gateway_product import PREFIXES
from tests.doors import free_port
from tests.processes import start_valkey, wait_until


@dataclass(frozen=True, slots=True)
class Part:
    """A process that serves on a port."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    key: str = ""

    def door(self, version: str) -> Door:
        """Where clients of that era call it."""
        return Door(self.port, PREFIXES[version] if self.key else "", self.key)

    def cpu_seconds(self) -> float:
        """Processor time it has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        """Memory in use, in MiB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


@dataclass(frozen=True, slots=True)
class Cores:
    """One core for the gateway, the rest for its clients, its upstream and Redis."""

    gateway: frozenset[int]
    others: frozenset[int]

    @classmethod
    def of_this_machine(cls) -> Cores:
        *others, last = sorted(os.sched_getaffinity(0))
        return cls(frozenset({last}), frozenset(others or [last]))


class Stage:
    """Starts the parts in a folder of their own, each on its core."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.cores = Cores.of_this_machine()
        self._stack = stack
        os.sched_setaffinity(0, self.cores.others)
        self.environment = {
            **os.environ,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        }

    def start(self, name: str, *arguments: object, gateway: bool, key: str = "") -> Part:
        """A process of a module of the bench, its port as the first argument, once it listens."""
        port = free_port()
        module, *words = arguments
        command = [sys.executable, "-m", str(module), *map(str, words)]
        command = [word.replace("PORT", str(port)) for word in command]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        self._stack.callback(stop, process)
        os.sched_setaffinity(process.pid, self.cores.gateway if gateway else self.cores.others)
        part = Part(name, port, process, key)
        wait_until(lambda: self._listens(part), 60, f"a serving {name}")
        return part

    def _listens(self, part: Part) -> bool:
        ended = part.process.poll()
        assert ended is None, (self.folder / f"{part.name}.log").read_text()[-3000:]
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", part.port)) == 0

    def upstream(self) -> Part:
        return self.start("direct", "bench.gateway_upstream", "PORT", gateway=False)

    def proxy(self, upstream: Part) -> Part:
        return self.start("proxy", "bench.gateway_proxy", "PORT", upstream.port, gateway=True)

    def product(self, upstream: Part, profile: Path | None = None) -> Part:
        """The web process of the product, its Redis on the other core."""
        valkey = start_valkey(self.folder / "redis", self.folder / "run" / "redis.sock")
        self._stack.callback(stop, valkey)
        os.sched_setaffinity(valkey.pid, self.cores.others)
        filled = subprocess.run(
            [sys.executable, "-m", "bench.gateway_product", "fill", str(upstream.port)],
            env=self.environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        if profile is not None:
            self.environment["BENCH_PROFILE"] = str(profile)
        key = filled.stdout.decode().split()[-1]
        serve = ("bench.gateway_product", "serve", "PORT")
        return self.start("product", *serve, gateway=True, key=key)


@contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    """A stage whose processes are gone afterwards."""
    with ExitStack() as stack:
        yield Stage(folder, stack)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process in order, and by force when it does not."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
