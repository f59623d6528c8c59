"""The life of a connection, and how other systems name its states."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from tools.contracts import IllegalTransition
from tools.upstreams import ConnectionReport, ConnectionState, UpstreamTransport, next_state
from tools.upstreams.states import AGENT, ORCHESTRATOR, SERVICE, TRANSITIONS

S = ConnectionState
HTTP, STDIO = UpstreamTransport.STREAMABLE_HTTP, UpstreamTransport.STDIO
# state: as an orchestrator, an agent and a served service call it
VIEWS = {
    S.NOT_CONFIGURED: ("disconnected", "not_configured", "STOPPED"),
    S.CONNECTING: ("disconnected", "connecting", "INITIALIZING"),
    S.CONNECTED: ("connected", "connected", "HEALTHY"),
    S.DEGRADED: ("degraded", "connected", "DEGRADED"),
    S.FAILED: ("disconnected", "failed", "DEGRADED"),
    S.SHUTTING_DOWN: ("disconnected", "failed", "SHUTTING_DOWN"),
    S.DISCONNECTED: ("disconnected", "failed", "STOPPED"),
}


def report(**changes: Any) -> ConnectionReport:
    values = {"server_name": "Todo", "transport_type": HTTP, "connection_state": S.CONNECTED}
    return ConnectionReport(**{**values, **changes})


@pytest.mark.parametrize("state", list(S))
def test_every_state_has_its_name_in_each_view(state: ConnectionState) -> None:
    # S2-005, S1-040, C05
    wire = report(connection_state=state).to_wire()
    assert wire["lifecycle"] == state.value
    assert (wire["connection_state"], wire["agent_state"], wire["service_state"]) == VIEWS[state]


def test_views_have_no_other_names() -> None:
    # S2-005, S1-040, C05
    assert set(ORCHESTRATOR.values()) == {"connected", "degraded", "disconnected"}
    assert set(AGENT.values()) == {"not_configured", "connecting", "connected", "failed"}
    assert set(SERVICE.values()) == {
        *("INITIALIZING", "HEALTHY", "DEGRADED", "SHUTTING_DOWN", "STOPPED")
    }


@pytest.mark.parametrize(
    "life",
    [
        (S.NOT_CONFIGURED, S.CONNECTING, S.CONNECTED),  # S2-009
        (S.CONNECTED, S.DEGRADED),  # S2-010
        (S.DEGRADED, S.CONNECTED),  # S2-011
        (S.CONNECTED, S.SHUTTING_DOWN, S.DISCONNECTED),  # S2-012
        (S.DEGRADED, S.SHUTTING_DOWN, S.DISCONNECTED),  # S2-012
        (S.CONNECTING, S.FAILED, S.CONNECTING, S.CONNECTED),
        (S.CONNECTED, S.CONNECTING),
        (S.CONNECTING, S.DEGRADED),
        (S.DISCONNECTED, S.CONNECTING),
        (S.NOT_CONFIGURED, S.SHUTTING_DOWN),
        (S.CONNECTED, S.CONNECTED),
    ],
    ids="-".join,
)
def test_a_connection_lives_like_this(life: tuple[ConnectionState, ...]) -> None:
    for current, following in pairwise(life):
        assert next_state(current, following) is following


@pytest.mark.parametrize(
    ("current", "following"),
    [
        (S.NOT_CONFIGURED, S.CONNECTED),
        (S.NOT_CONFIGURED, S.DEGRADED),
        (S.FAILED, S.CONNECTED),
        (S.FAILED, S.DEGRADED),
        (S.CONNECTED, S.DISCONNECTED),
        (S.CONNECTED, S.NOT_CONFIGURED),
        (S.SHUTTING_DOWN, S.CONNECTING),
        (S.SHUTTING_DOWN, S.CONNECTED),
        (S.DISCONNECTED, S.SHUTTING_DOWN),
        (S.DISCONNECTED, S.CONNECTED),
    ],
)
def test_other_steps_are_refused(current: ConnectionState, following: ConnectionState) -> None:
    with pytest.raises(IllegalTransition, match=f"that is {current} cannot become {following}"):
        next_state(current, following)


def test_every_state_can_be_left_and_no_state_leads_back_to_not_configured() -> None:
    assert set(TRANSITIONS) == set(S)
    assert all(TRANSITIONS.values())
    assert S.NOT_CONFIGURED not in frozenset().union(*TRANSITIONS.values())


def test_a_report_has_the_name_of_its_server() -> None:
    # S2-003
    with pytest.raises(ValueError, match="the name of its server"):
        report(server_name="")


@pytest.mark.parametrize("state", [S.CONNECTED, S.DEGRADED])
def test_a_live_stdio_connection_has_a_process(state: ConnectionState) -> None:
    # S2-004, T12
    with pytest.raises(ValueError, match="has a process"):
        report(transport_type=STDIO, connection_state=state)
    made = report(transport_type=STDIO, connection_state=state, process_handle=4711)
    assert made.to_wire()["process_handle"] == 4711


@pytest.mark.parametrize(
    "state", [S.NOT_CONFIGURED, S.CONNECTING, S.FAILED, S.SHUTTING_DOWN, S.DISCONNECTED]
)
def test_a_stdio_connection_that_is_not_live_needs_none(state: ConnectionState) -> None:
    # S2-004, T12
    assert report(transport_type=STDIO, connection_state=state).process_handle is None


@pytest.mark.parametrize("transport", [one for one in UpstreamTransport if one is not STDIO])
def test_only_a_stdio_connection_has_a_process(transport: UpstreamTransport) -> None:
    # S2-004, T12
    with pytest.raises(ValueError, match="only a stdio connection"):
        report(transport_type=transport, process_handle=4711)
    assert report(transport_type=transport).process_handle is None


def test_the_time_to_initialize_is_not_negative() -> None:
    # S2-008
    with pytest.raises(ValueError, match="initialization_time"):
        report(initialization_time=-0.001)
    assert report(initialization_time=0).to_wire()["initialization_time"] == 0
    assert report(initialization_time=1.23456).to_wire()["initialization_time"] == 1.235


def test_a_report_tells_checks_tools_and_troubles() -> None:
    # S2-002, S2-006, S2-007, C08
    moment = datetime(2026, 11, 17, 10, 30, 1, 5000, UTC)
    wire = report(
        discovered_tools=("create_todo", "list_todos"),
        last_health_check=moment,
        protocol_version="2026-07-28",
        failures=2,
        error="a call was not answered in time",
        since=moment,
    ).to_wire()
    assert wire == {
        "server_name": "Todo",
        "transport_type": "streamable_http",
        "connection_state": "connected",
        "lifecycle": "connected",
        "agent_state": "connected",
        "service_state": "HEALTHY",
        "discovered_tools": ["create_todo", "list_todos"],
        "initialization_time": 0.0,
        "last_health_check": "2026-11-17T10:30:01.005Z",
        "process_handle": None,
        "protocol_version": "2026-07-28",
        "failures": 2,
        "error": "a call was not answered in time",
        "since": "2026-11-17T10:30:01.005Z",
    }
    assert report().to_wire()["last_health_check"] is None
