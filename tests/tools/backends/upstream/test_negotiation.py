"""Which protocol a server speaks, found out also where it says nothing for a while."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tools.backends.upstream.negotiation import PROBE_SECONDS
from tools.backends.upstream.probing import probe
from tools.errors import TransportFault
from tools.upstreams import Discovered, Upstream, UpstreamTransport

PROJECT = Path(__file__).resolve().parents[4]
# A server of the time before: it takes no notice of what it does not know.
OLD = """
import json, sys
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}
    },
    "tools/list": {"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") in ANSWERS:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS[asked["method"]]}
        print(json.dumps(answer), flush=True)
"""
# One that wants neither.
SURLY = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        error = {"code": -32000, "message": "not today"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
"""


@pytest.fixture
def commands(settings: Settings) -> dict[str, Any]:
    """The allow-list, to which tests add."""
    listed: dict[str, Any] = {}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_COMMANDS": listed}
    return listed


async def met(commands: dict[str, Any], *command: str) -> Discovered:
    commands["met"] = {"command": list(command), "directory": str(PROJECT)}
    return await probe(Upstream("met", UpstreamTransport.STDIO, command="met", connect_timeout=15))


async def test_a_server_of_the_new_era_that_is_slow_to_start_is_met_in_that_era(
    commands: dict[str, Any], tmp_path: Path
) -> None:
    # Once it was asked in the new way, it refuses to be greeted in the old one.
    slowly = f"import time; time.sleep({PROBE_SECONDS + 0.3}); from examples.todo_server.__main__ import main"
    start = f"{slowly}; main(['--var-dir', {str(tmp_path)!r}])"
    found = await met(commands, sys.executable, "-c", start)
    assert found.protocol_version == "2026-07-28"
    assert len(found.tools) == 5


async def test_a_server_that_takes_no_notice_of_the_new_way_is_met_in_the_old_one(
    commands: dict[str, Any],
) -> None:
    found = await met(commands, sys.executable, "-c", OLD)
    assert found.protocol_version == "2025-06-18"
    assert [tool["name"] for tool in found.tools] == ["dig"]


async def test_a_server_that_refuses_is_reported_with_its_reason(commands: dict[str, Any]) -> None:
    with pytest.raises(TransportFault, match="refused to initialize: not today"):
        await met(commands, sys.executable, "-c", SURLY)
