"""Redis dies under open streams: they stay, calls are answered, and changes arrive again afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import redis
from pytest_django import Settings

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.processes import wait_until
from tests.tools.guards.support import OwnValkey
from tests.tools.mcp_server.clients import WAYS, User, user_of
from tests.tools.mcp_server.test_changes import listener
from tools.conf import deployment

CHANGED = "notifications/tools/list_changed"
LEGACY = [way for way in WAYS if way.mode == "legacy"]
MODERN = [way for way in WAYS if way.mode == "auto"]


@pytest.fixture
def own_redis(settings: Settings) -> Iterator[OwnValkey]:
    """The Redis of the door, to be killed."""
    server = OwnValkey()
    settings.REDIS_URL = server.url
    deployment.cache_clear()
    yield server
    server.remove()
    deployment.cache_clear()


@pytest.fixture
def fragile(transactional_db: None, own_redis: OwnValkey) -> Iterator[RestDoor]:
    opened = RestDoor()
    yield opened
    opened.stop()


def test_streams_outlive_a_killed_redis(fragile: RestDoor, own_redis: OwnValkey) -> None:
    from controlplane.application import mcp_doors

    make_tool(name="echo")
    fragile.start()
    with ExitStack() as stack:
        users = [stack.enter_context(user_of(fragile.url, way)) for way in LEGACY]
        heard = [stack.enter_context(listener(fragile.url, way)) for way in MODERN]
        wait_until(lambda: mcp_doors.listeners == len(WAYS), what="all to listen")
        own_redis.kill()
        for user in users:
            _is_answered(user)
        for way in WAYS:
            with user_of(fragile.url, way) as late:
                _is_answered(late)
        own_redis.start()
        wait_until(lambda: _letter_boxes(own_redis) == 2, what="the process to take letters again")
        make_tool(name="second")
        for user in users:
            wait_until(lambda user=user: CHANGED in user.notices, what="the notice")  # type: ignore[misc]
            assert user.names() == ["echo", "second"]
            _is_answered(user)
        for events in heard:
            wait_until(lambda events=events: "ToolsListChanged" in events, what="the event")  # type: ignore[misc]


def _is_answered(user: User) -> None:
    assert user.call("echo", {"word": "hi"}).structured_content == {"echo": {"word": "hi"}}


def _letter_boxes(server: OwnValkey) -> int:
    """The channels that somebody listens to for other processes."""
    with redis.Redis(unix_socket_path=str(server.socket)) as client:
        return len(client.pubsub_channels("cp:relay:*"))
