"""A real scrape: Prometheus' own checker accepts it, and the dashboard finds its metrics in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.processes import wait_until
from tests.promtool import checked, checked_queries
from tools.backends import statistics

PROJECT = Path(__file__).resolve().parents[2]
DASHBOARD = PROJECT / "deploy" / "grafana" / "dashboard.json"
REFERENCE = PROJECT / "docs" / "reference" / "rest-api.md"
# Those of objectives are asked for by how their names begin.
OBJECTIVES = "controlplane_slo_"
NAME = re.compile(r"\b(?:controlplane|process)_[a-z0-9_]+")


@pytest.fixture
def scrape(door: RestDoor) -> str:
    """The metrics of a process that has served calls of every kind."""
    statistics.forget()
    make_tool(name="echo", dependency="api:echo", cache_ttl_seconds=60)
    door.call("echo")
    door.call("echo", {"fail": "UpstreamFailed"})
    door.call("made_up")

    def counted() -> bool:
        # Readings are kept for a moment, each for its own.
        text = door.get("/metrics").text
        wanted = ("recent_tool_seconds{", 'tool="echo"', 'tool="unknown"', "recent_caller_calls{")
        return all(part in text for part in wanted)

    wait_until(counted, what="the calls in the counters")
    return door.get("/metrics").text


def test_the_checker_of_prometheus_finds_nothing_to_say(scrape: str) -> None:
    assert checked(scrape.encode()) == ""


def test_calls_are_told_by_what_is_behind_their_tool(scrape: str) -> None:
    name = 'controlplane_dependency_calls_total{dependency="api:echo",status='
    assert f'{name}"success"}} 1.0' in scrape
    assert f'{name}"failure"}} 1.0' in scrape


def test_every_metric_of_the_dashboard_is_one_that_a_scrape_gives(scrape: str) -> None:
    kinds = dict(re.findall(r"^# TYPE (\S+) (\w+)$", scrape, re.MULTILINE))
    parts = {"histogram": ("_bucket", "_count", "_sum")}
    given = {name + part for name, kind in kinds.items() for part in parts.get(kind, ("",))}
    assert len(set(expressions())) > 25
    for expression in expressions():
        asked = {name for name in NAME.findall(expression) if name != OBJECTIVES}
        assert asked <= given, expression


def test_every_metric_of_a_scrape_is_in_the_reference(scrape: str) -> None:
    given = set(re.findall(r"^# TYPE (controlplane_\S+) ", scrape, re.MULTILINE))
    listed = set(re.findall(r"`(controlplane_[a-z0-9_]+)`", REFERENCE.read_text(encoding="utf-8")))
    assert given - listed == set()


def test_prometheus_understands_every_query_of_the_dashboard(tmp_path: Path) -> None:
    filled = (text.replace("$__rate_interval", "5m") for text in expressions())
    queries = [text for text in filled if not text.startswith("label_values(")]
    assert checked_queries(queries, tmp_path) == ""
    assert "could not parse expression" in checked_queries(["sum(rate(a[5m])"], tmp_path)


def test_the_dashboard_can_be_imported_and_takes_its_source_from_a_variable() -> None:
    board = dashboard()
    assert (board["uid"], board["title"]) == ("mcp-control-plane", "MCP control plane")
    assert "id" not in board
    assert board["templating"]["list"][0]["type"] == "datasource"
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    for panel in board["panels"]:
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
    places = [panel["gridPos"] for panel in board["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    assert len({(place["x"], place["y"]) for place in places}) == len(places)


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return found


def expressions() -> Iterator[str]:
    board = dashboard()
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["definition"]
