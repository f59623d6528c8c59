"""The product as the gateway bench runs it: its catalogue, its key, its web process.

    python -m bench.gateway_product fill UPSTREAM_PORT    fills the database, prints a key
    python -m bench.gateway_product serve PORT            serves, as `manage.py serve` does

API keys are demanded, arguments validated, breakers on, every call journalled and logged. The limit
of the caller is out of reach. With BENCH_PROFILE in the environment the web process says at its end
where its time went, counted from the moment it is told to begin.
"""

from __future__ import annotations

import os
import sys

import django

from bench.gateway_upstream import HANDSHAKE, INFO, MODERN, TOOLS

PREFIXES = {MODERN: "modern_", HANDSHAKE: "session_"}
ERAS = {MODERN: "modern", HANDSHAKE: "handshake"}


def fill(upstream_port: int) -> str:
    """Register the upstream once for each era; the key of a client that may call it."""
    django.setup()
    from django.core.management import call_command

    from tools.models import ServiceConfiguration, Tool, Toolset, UpstreamServer
    from tools.services.issue_key import issue_key
    from tools.services.sync_upstream import record_discovery
    from tools.upstreams import Discovered

    call_command("migrate", verbosity=0)
    row = ServiceConfiguration(service_name="bench", security_api_keys_enabled=True)
    row.save()
    for version, era in ERAS.items():
        server = UpstreamServer(
            slug=era,
            url=f"http://127.0.0.1:{upstream_port}/mcp",
            prefix=PREFIXES[version],
            era=era,
            allowed_networks=["127.0.0.0/8"],
        )
        server.save()
        found = Discovered(version, INFO, tools=TOOLS, seconds=0.01)
        record_discovery(server.slug, found)
    toolset = Toolset(slug="bench")
    toolset.save()
    toolset.tools.set(Tool.objects.all())
    return issue_key("bench", toolsets=["bench"], rate_limit_per_minute=100_000_000).key


def serve(port: int) -> None:
    """One web process, with a profiler inside when it is asked for."""
    from django.core.management import execute_from_command_line

    from bench.gateway_profile import profiled

    with profiled(os.environ.get("BENCH_PROFILE", "")):
        execute_from_command_line(["manage.py", "serve", "--port", str(port)])


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        print(fill(int(sys.argv[2])))
    else:
        serve(int(sys.argv[2]))
