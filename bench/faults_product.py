"""Fills the database of a bench about upstream servers.

    python -m bench.faults_product < servers.json    prints the key of a client that may call them

`servers.json` is a list of rows of servers, as columns by name. With `light` in it a server is taken to
offer the tools of bench/gateway_upstream.py, else those of the scriptable server of the tests. API keys
are demanded, arguments validated, breakers on, every call journalled. The limit of the caller is out of
reach.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django


def fill(servers: list[dict[str, Any]]) -> str:
    """Register the servers as they are when everything they offer was found and approved."""
    django.setup()
    from django.core.management import call_command

    from bench.gateway_upstream import INFO, MODERN, TOOLS
    from tests.mcp_upstream_offer import tools
    from tests.mcp_upstream_state import Switches
    from tools.models import ServiceConfiguration, Tool, Toolset, UpstreamServer
    from tools.services.issue_key import issue_key
    from tools.services.sync_upstream import record_discovery
    from tools.upstreams import Discovered

    call_command("migrate", verbosity=0)
    ServiceConfiguration(service_name="bench", security_api_keys_enabled=True).save()
    for columns in servers:
        offered = TOOLS if columns.pop("light", False) else tools(Switches())
        server = UpstreamServer(**columns)
        server.save()
        record_discovery(server.slug, Discovered(MODERN, INFO, tools=tuple(offered)))
    toolset = Toolset(slug="bench")
    toolset.save()
    toolset.tools.set(Tool.objects.all())
    return issue_key("bench", toolsets=["bench"], rate_limit_per_minute=100_000_000).key


if __name__ == "__main__":
    print(fill(json.load(sys.stdin)))
