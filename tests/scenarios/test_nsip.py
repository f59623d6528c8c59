"""NSIP from the command to the answer: seeded, called over REST and MCP, cached, and away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.conf import settings

from tests.doors import RestDoor
from tests.factories import make_service
from tests.journal import row_of
from tests.nsip_flock import RAM
from tests.nsip_server import BUSY, DROP, ERROR, HANG, PAGE, Fault, NsipServer, nsip_server
from tests.processes import wait_until
from tests.tools.mcp_server.task_client import TaskClient
from tools.models import ApiService
from tools.services.nsip_tools import NSIP_TOOLS
from tools.services.seed_nsip import seed_nsip

ARGUMENTS: dict[str, dict[str, Any]] = {
    "nsip_get_last_update": {},
    "nsip_list_breeds": {},
    "nsip_get_statuses": {},
    "nsip_get_trait_ranges": {"breed_id": "640"},
    "nsip_search_animals": {"breed_id": 640, "page_size": 3},
    "nsip_get_animal": {"search_string": RAM},
    "nsip_get_lineage": {"lpn_id": RAM},
    "nsip_get_progeny": {"lpn_id": RAM, "page_size": 5},
    "nsip_search_by_lpn": {"lpn_id": RAM},
}


@pytest.fixture
def api() -> Iterator[NsipServer]:
    with nsip_server() as server:
        yield server


@pytest.fixture
def nsip(door: RestDoor, api: NsipServer) -> RestDoor:
    """A door behind which the nine tools reach the stand-in."""
    make_service(security_rate_limit=10_000)
    seed_nsip(enable=True, base_url=api.url)
    service = ApiService.objects.get(slug="nsip")
    service.allowed_networks = ["127.0.0.1/32"]
    service.retries = 0
    service.save()
    return door


@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_every_tool_answers_over_rest_and_mcp(nsip: RestDoor, name: str) -> None:
    # S4-009 S4-010 S4-011 S4-012 S4-013 S4-014 S4-015 S4-016 S4-017
    over_rest = nsip.call(name, ARGUMENTS[name]).json()
    assert over_rest["success"] is True, over_rest
    over_mcp = TaskClient(nsip).result(
        "tools/call", {"name": name, "arguments": ARGUMENTS[name]}, declare=False
    )
    assert over_mcp.get("isError", False) is False
    assert over_mcp["structuredContent"] == over_rest["data"]


def test_all_nine_are_listed_with_their_schemas(nsip: RestDoor) -> None:
    # F4-01
    listed = {tool["name"]: tool for tool in nsip.get("/tools").json()["tools"]}
    assert set(listed) == {tool.name for tool in NSIP_TOOLS}
    assert all(tool["input_schema"]["type"] == "object" for tool in listed.values())


def test_second_call_comes_from_the_cache(nsip: RestDoor, api: NsipServer) -> None:
    # S4-086 S4-087 F4-11
    first, second = (nsip.call("nsip_list_breeds", {}).json() for _ in range(2))
    assert (first["meta"]["cache_hit"], second["meta"]["cache_hit"]) == (False, True)
    assert first["data"] == second["data"]
    assert api.calls.total() == 1


@pytest.mark.parametrize("fault", [ERROR, DROP, PAGE])
def test_last_answer_is_given_and_marked_while_the_api_is_down(
    nsip: RestDoor, api: NsipServer, fault: Fault
) -> None:
    # F4-21
    first = nsip.call("nsip_list_breeds", {}).json()
    _expire()
    api.fail(fault)
    answer = nsip.call("nsip_list_breeds", {}).json()
    assert answer["data"] == first["data"]
    assert answer["meta"]["stale"] is True
    assert answer["meta"]["stale_since"].endswith("Z")
    assert row_of(answer["request_id"]).cache_hit is True
    # What was never answered has nothing to be answered with.
    failed = nsip.call("nsip_get_statuses", {})
    assert failed.json()["success"] is False


def _expire() -> None:
    """As if an hour had passed: results may not be reused any more."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for key in client.keys("cp:cache:http_api:*"):
            client.delete(key)


def test_results_had_with_other_credentials_are_not_given(nsip: RestDoor, api: NsipServer) -> None:
    # F4-04
    service = ApiService.objects.get(slug="nsip")
    service.auth = "bearer"
    service.set_secret("one")
    service.save()
    assert [_from_cache(nsip) for _ in range(2)] == [False, True]
    service.set_secret("two")
    service.save()
    wait_until(lambda: not _from_cache(nsip), what="the new credentials")
    assert api.calls.total() == 2


def _from_cache(door: RestDoor) -> bool:
    return bool(door.call("nsip_list_breeds", {}).json()["meta"]["cache_hit"])


def test_busy_api_is_told_with_the_time_to_come_back(nsip: RestDoor, api: NsipServer) -> None:
    # F4-13
    api.fail(BUSY)
    answer = nsip.call("nsip_get_statuses", {})
    assert (answer.status_code, answer.json()["code"]) == (429, "RATE_LIMITED")
    assert answer.headers["Retry-After"] == "7"


def test_our_own_limit_towards_an_api_is_kept_and_told(nsip: RestDoor, api: NsipServer) -> None:
    # F4-13
    ApiService.objects.filter(slug="nsip").update(rate_per_minute=2)
    first = nsip.call("nsip_get_statuses", {}).json()
    nsip.call("nsip_list_breeds", {})
    refused = nsip.call("nsip_get_last_update", {})
    assert first["meta"]["api_rate_remaining"] == 1
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert int(refused.headers["Retry-After"]) >= 1
    assert api.calls.total() == 2


def test_hanging_api_ends_at_its_limit(nsip: RestDoor, api: NsipServer) -> None:
    # S4-073
    ApiService.objects.filter(slug="nsip").update(timeout_seconds=1)
    api.fail(HANG)
    answer = nsip.call("nsip_get_statuses", {}).json()
    assert "Connection timeout after 1s" in str(answer)


def test_short_lpn_is_refused_before_anything_is_sent(nsip: RestDoor, api: NsipServer) -> None:
    # S4-072 F4-03
    answer = nsip.call("nsip_get_lineage", {"lpn_id": "123"})
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_ARGUMENTS")
    assert "6401492020FLE249" in answer.text
    assert api.calls.total() == 0
