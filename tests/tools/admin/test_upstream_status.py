"""What the page of an MCP server shows of connections and of the last look."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from tests.tools.admin.pages import address, text
from tests.tools.admin.upstream_pages import keep, status_of, tell
from tests.upstream_rows import make_upstream
from tools.models import UpstreamServer
from tools.upstreams import ConnectionState

pytestmark = pytest.mark.django_db


def test_page_shows_what_each_process_tells_of_its_connection(
    admin_client: Client, redis_url: str
) -> None:
    # S2-005, S2-006, S2-007, S2-008, C05, T12
    server = make_upstream(slug="todo", transport="stdio", command="todo", url="")
    checked = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    tell(
        redis_url,
        server,
        "one:11",
        connection_state=ConnectionState.CONNECTED,
        discovered_tools=("create_todo", "list_todos"),
        initialization_time=0.1234,
        last_health_check=checked,
        process_handle=4711,
        protocol_version="2025-11-25",
    )
    tell(
        redis_url,
        server,
        "two:12",
        connection_state=ConnectionState.FAILED,
        error="exited with status 3: <b>no</b> database",
        failures=4,
    )
    tell(redis_url, server, "old:1", connection_state=ConnectionState.FAILED, age=3600)
    shown = status_of(admin_client, server)
    for expected in ("one:11", "two:12", "0.123 s", "2026-01-02", "4711", "2025-11-25"):
        assert expected in shown
    assert "exited with status 3: &lt;b&gt;no&lt;/b&gt; database" in shown
    # A process that was killed cannot take back what it said.
    assert "old:1" not in shown
    # The state that most needs a look stands for all.
    listed = admin_client.get(address(UpstreamServer, "changelist"))
    assert "failed" in text(listed)


def test_last_look_is_shown_with_all_it_found(admin_client: Client, redis_url: str) -> None:
    server = make_upstream()
    found = {
        "seconds": 0.5,
        "connect_seconds": 0.25,
        "protocol_version": "2025-11-25",
        "server_info": {"name": "todo", "version": "1.2"},
        "instructions": "Be kind.",
        "counts": {"tools": 2, "prompts": 1, "resources": 0, "templates": 0},
        "names": {"tools": ["a<i>", "b"], "prompts": ["c"], "resources": [], "templates": []},
        "warnings": ["No MCP tools available"],
        "unchanged": False,
        "changes": {"added": ["tool b"], "waiting": [], "changed": [], "gone": [], "back": []},
    }
    keep(redis_url, server, purpose="refresh", state="done", found=found)
    shown = " ".join(status_of(admin_client, server).split())
    assert "todo 1.2, protocol 2025-11-25, connected in 0.250 s, all of it took 0.500 s." in shown
    assert "<code>a&lt;i&gt;</code>, <code>b</code>" in shown
    for expected in ("2 tools", "1 prompt", "0 resources", "Be kind.", "No MCP tools available"):
        assert expected in shown
    assert "Added (1):</span> tool b" in shown
