"""A scriptable server beside the others: what it is not asked, what it is called, how it is described."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.federation.servers.plane import MCP_WAYS, Plane
from tests.mcp_upstream import HttpUpstream, http_upstream
from tests.tools.mcp_server.clients import user_of

SLUG = "trial"


@pytest.fixture(scope="module")
def trial(plane: Plane, folder: Path) -> Iterator[HttpUpstream]:
    """Registered after the reference servers; some of its definitions are bad."""
    own = folder / "trial"
    own.mkdir()
    with http_upstream(own, bad_tools=True) as upstream:
        assert not plane.registry(SLUG)
        plane.add(
            {
                "slug": SLUG,
                "display_name": "Trial",
                "url": upstream.url,
                "allowed_networks": ["127.0.0.0/8"],
                "connect_at_start": True,
            }
        )
        yield upstream


@pytest.mark.parametrize(
    "arguments",
    [{"number": "one"}, {"number": -1}, {"number": 1, "nmber": 2}],
    ids=["type", "limit", "name"],
)
def test_arguments_that_do_not_fit_never_reach_the_server(
    plane: Plane, trial: HttpUpstream, arguments: dict[str, Any]
) -> None:
    # F2-13
    before = len(trial.executions("structured"))
    status, body = plane.stack.call("structured", **arguments)
    assert (status, body["code"]) == (400, "INVALID_ARGUMENTS")
    for way in MCP_WAYS:
        with user_of(plane.url, way) as user:
            refused = user.call("structured", arguments)
            assert refused.is_error
            assert refused.structured_content["error"]["code"] == -32602
    assert len(trial.executions("structured")) == before
    status, body = plane.stack.call("structured", number=4)
    assert (status, body["data"]) == (200, {"number": 4, "double": 8})
    assert len(trial.executions("structured")) == before + 1


def test_a_name_that_another_server_has_gets_the_name_of_its_own_before_it(
    plane: Plane, trial: HttpUpstream
) -> None:
    # C01 S2-019
    assert plane.names(SLUG)["echo"] == "trial__echo"
    assert plane.stack.call("trial__echo", text="otter")[0] == 200
    assert [call["arguments"] for call in trial.executions("echo")] == [{"text": "otter"}]
    # The one that came first keeps it.
    assert plane.names("everything")["echo"] == "echo"
    assert plane.stack.call("echo", message="otter")[0] == 200
    everything = [plane.names(slug) for slug in (SLUG, "everything", "filesystem", "memory")]
    exposed = [name for names in everything for name in names.values()]
    assert len(exposed) == len(set(exposed))


def test_tools_with_bad_definitions_are_there_too_and_can_be_called(
    plane: Plane, trial: HttpUpstream
) -> None:
    # S2-020 S2-021 C02 C14
    offered, names = plane.offered(), plane.names(SLUG)
    odd = {"without_schema", "of_list", "of_nothing", "silent", "odd_answer"}
    assert odd <= set(names)
    assert offered["silent"]["description"] == "Tool silent of Trial"
    for name in odd:
        assert offered[name]["input_schema"]["type"] == "object"
