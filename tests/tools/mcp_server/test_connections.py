"""How many clients a listener has, now and at most."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tools.contracts import Transport
from tools.errors import ConnectionLimitExceeded
from tools.mcp_server.connections import Connections


def test_clients_are_counted_now_and_at_most() -> None:
    # S4-078 C09
    connections = Connections(lambda: 5)
    with ExitStack() as clients:
        for _ in range(3):
            clients.enter_context(connections.admit(Transport.SSE))
        clients.enter_context(connections.admit(Transport.WEBSOCKET))
        assert connections.current == 4
    assert (connections.current, connections.peak) == (0, 4)


def test_each_transport_has_the_limit_for_itself_and_it_may_change() -> None:
    # F0-29
    limit = 1
    connections = Connections(lambda: limit)
    with connections.admit(Transport.SSE), connections.admit(Transport.WEBSOCKET):
        with pytest.raises(ConnectionLimitExceeded) as refused, connections.admit(Transport.SSE):
            pass
        details = refused.value.details
        assert (details.max, details.current, details.retry_after) == (1, 1, 30)
        limit = 2
        with connections.admit(Transport.SSE):
            assert connections.current == 3


def test_a_stream_beside_a_request_is_no_second_client() -> None:
    # F4-09
    connections = Connections(lambda: 2)
    door = Transport.STREAMABLE_HTTP
    with ExitStack() as held:
        for client in ("a", "a", "b", "b"):
            held.enter_context(connections.admit(door, client))
        assert connections.current == 2
        for client in ("a", "c", ""):
            with pytest.raises(ConnectionLimitExceeded), connections.admit(door, client):
                pass
    assert (connections.current, connections.peak) == (0, 2)
