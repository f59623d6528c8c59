"""A dependency that is left alone shows in the health of the service."""

from __future__ import annotations

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.faults.backend import FakeBackend
from tests.processes import wait_until


def test_an_open_breaker_degrades_the_service_and_names_the_dependency(
    door: RestDoor, backend: FakeBackend
) -> None:
    # S2-058 S3-039 S3-054
    make_tool(name="echo", dependency="todo-server")
    assert "todo-server" not in door.get("/health").json()["dependencies"]
    for _ in range(5):
        assert door.call("echo", {"fail": "transport"}).status_code == 503

    def reported() -> bool:
        return "todo-server" in door.get("/health").json()["dependencies"]

    wait_until(reported, timeout=5, what="the open breaker in GET /health")
    body = door.get("/health").json()
    assert body["status"] == "degraded"
    assert body["state"] == "DEGRADED"
    assert body["dependencies"]["todo-server"] == {
        "status": "unavailable",
        "error": "Its circuit breaker is OPEN",
    }
