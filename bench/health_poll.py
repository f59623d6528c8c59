"""Whether asking for health every second makes calls slower.

    python -m bench.health_poll [--minutes 10] [--clients 4]

A whole control plane; clients that call a tool all the time; stretches of 20 s in which /health is asked
every second and stretches in which it is not, turn by turn, until it was asked for so many minutes. Prints
p50 and p95 of the calls of both, and their ratio.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import threading
import time
from typing import Final

import django

STRETCH: Final = 20.0
# Between the calls of a client: a machine that is busy to the brim has other reasons to be slow.
PAUSE: Final = 0.02
BODY: Final = json.dumps({"tool": "server_metrics", "arguments": {}})


class Clients:
    """Threads that call a tool again and again, and write down how long each call took."""

    def __init__(self, port: int, count: int) -> None:
        self.taken: list[float] = []
        self._port = port
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(count)]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def since_last(self) -> list[float]:
        """What was written down since the last time it was asked."""
        self.taken, seen = [], self.taken
        return seen

    def _run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        while not self._ended.is_set():
            began = time.perf_counter()
            connection.request(
                "POST", "/call-tool", BODY, headers={"Content-Type": "application/json"}
            )
            answer = connection.getresponse()
            answer.read()
            assert answer.status in {200, 429}, answer.status
            self.taken.append(time.perf_counter() - began)
            time.sleep(PAUSE)
        connection.close()


def poll(port: int, seconds: float) -> float:
    """Ask for health every second, for so long; the longest that an answer took."""
    slowest, until = 0.0, time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/health")
        connection.getresponse().read()
        connection.close()
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(max(0.0, min(left, 1.0 - (time.monotonic() - began))))
    return slowest


def p95(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=20)[-1]


def run(minutes: float, clients: int) -> None:
    from tests.controlplane.stack import stack

    polled: list[float] = []
    quiet: list[float] = []
    slowest = 0.0
    with stack(SECURITY__RATE_LIMIT="1000000") as made:
        made.up().wait_until_running(120)
        with Clients(made.port, clients) as calling:
            time.sleep(5)
            calling.since_last()
            for _ in range(max(1, round(minutes * 60 / STRETCH))):
                time.sleep(STRETCH)
                quiet += calling.since_last()
                slowest = max(slowest, poll(made.port, STRETCH))
                polled += calling.since_last()
    print("| | calls | p50 | p95 |\n|---|---|---|---|")
    for name, taken in (("not asked", quiet), ("asked every second", polled)):
        middle = statistics.median(taken)
        print(f"| {name} | {len(taken)} | {middle * 1000:.2f} ms | {p95(taken) * 1000:.2f} ms |")
    print(
        f"p95 ratio {p95(polled) / p95(quiet):.3f}; slowest answer of /health {slowest * 1000:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    run(options.minutes, options.clients)


if __name__ == "__main__":
    main()
