"""What a failing HTTP API does to the calls of a tool whose API is well.

Run with `python -m bench.upstreams`: it starts a control plane of its own and small APIs on this machine,
two that are well and five that are not, and loads one of the good beside each of the others. What counts
is the share of its times beside a failing one by those beside the other good one, in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import django

from bench.load import Figures, Request, fetch, run

GOOD = "good"
DOCUMENT: Mapping[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "get": {
                "operationId": "things",
                "summary": "Get the things there are.",
                "responses": {},
            }
        }
    },
}


def call(slug: str) -> Request:
    body = {"tool": f"{slug}_things", "arguments": {}}
    return Request("POST", "/call-tool", json.dumps(body).encode())


async def beside(port: int, slug: str, clients: int, seconds: float) -> tuple[Figures, Figures]:
    """The figures of the good API, and of the other one meanwhile."""
    good, other = await asyncio.gather(
        run(port, call(GOOD), clients, seconds), run(port, call(slug), clients, seconds)
    )
    return good, other


async def measure(port: int, others: Sequence[str], clients: int, seconds: float) -> None:
    await beside(port, others[0], clients, 1.0)
    usual = 0.0
    for slug in others:
        status, body = await fetch(port, call(slug))
        code = json.loads(body).get("code", "")
        good, other = await beside(port, slug, clients, seconds)
        usual = usual or good.p95_ms
        print(
            f"beside {slug:8} p50 {good.p50_ms:6.1f} ms  p95 {good.p95_ms:6.1f} ms  errors {good.errors}"
            f"  share of p95 {good.p95_ms / usual:4.2f}"
            f"  ({slug}: {status} {code}, {other.requests} calls, p95 {other.p95_ms:.0f} ms)",
            flush=True,
        )


@contextmanager
def apis() -> Iterator[dict[str, str]]:
    """The address of each API by name."""
    from tests.doors import free_port
    from tests.http_server import Reply, http_server, json_reply

    replies = {
        GOOD: json_reply({"things": [1, 2, 3]}),
        "another": json_reply({"things": [4, 5]}),
        "busy": json_reply({"message": "slow down"}, 429, Retry_After="5"),
        "hanging": Reply(hang=True),
        "broken": json_reply({"message": "no"}, 500),
        "garbage": Reply(body=b"\xff\xfe{"),
    }
    with ExitStack() as stack:
        found = {}
        for name, reply in replies.items():
            server = stack.enter_context(http_server())
            server.always = reply
            found[name] = server.url
        found["dead"] = f"http://127.0.0.1:{free_port()}"
        yield found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from tests.controlplane.stack import stack

    environment = {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "SECURITY__RATE_LIMIT": "100000000",
    }
    with apis() as found, stack(**environment) as made, tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "things.json"
        document.write_text(json.dumps(DOCUMENT))
        made.up().wait_until_running()
        for slug, address in found.items():
            made.manage(
                *("import_openapi", str(document), "--service", slug, "--base-url", address),
                *("--prefix", f"{slug}_", "--allow-network", "127.0.0.1/32"),
            ).check_returncode()
        others = [slug for slug in found if slug != GOOD]
        asyncio.run(measure(made.port, others, options.clients, options.seconds))


if __name__ == "__main__":
    main()
