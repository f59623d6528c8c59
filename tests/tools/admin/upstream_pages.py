"""Pages of MCP servers, and the commands that may be started there."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import redis
from django.conf import settings
from django.test import Client

from tests.tools.admin.pages import address, text
from tools.models import UpstreamServer
from tools.services.ask_upstream import KEY
from tools.upstreams import ConnectionReport, UpstreamTransport


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two commands that may be started, of which one takes a variable."""
    listed = settings.CONTROL_PLANE["UPSTREAM_COMMANDS"]
    monkeypatch.setitem(listed, "files", {"command": ["files"], "environment": ["API_KEY"]})
    monkeypatch.setitem(listed, "notes", {"command": ["notes"], "environment": []})


def page_of(server: UpstreamServer) -> str:
    return address(UpstreamServer, "change", server.pk)


def status_of(client: Client, server: UpstreamServer) -> str:
    return text(client.get(address(UpstreamServer, "status", server.pk)))


def tell(url: str, server: UpstreamServer, process: str, **facts: Any) -> None:
    """What a process would tell of its connection."""
    age = facts.pop("age", 0)
    lines = facts.pop("error_lines", [])
    values = {"server_name": str(server), "transport_type": UpstreamTransport(server.transport)}
    report = ConnectionReport(**{**values, **facts}).to_wire()
    written = {"at": time.time() - age, **report, "error_lines": lines}
    with redis.Redis.from_url(url) as client:
        client.hset(f"cp:upstream:{server.slug}", process, json.dumps(written))


def keep(url: str, server: UpstreamServer, **facts: Any) -> None:
    """A question that was asked before."""
    values = {"id": "1", "purpose": "test", "by": "somebody", "at": time.time(), "limit": 30}
    asked = {**values, "state": "waiting", "began": 0, "ended": 0, "message": "", "found": {}}
    with redis.Redis.from_url(url) as client:
        told = json.dumps({**asked, "error_lines": [], **facts})
        client.set(KEY.format(pk=server.pk), told)
