"""A cached tool whose definition is changed: answers of the old one are not given any more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.doors import RestDoor
from tests.factories import make_tool
from tests.http_server import HttpServer, Reply, http_server
from tests.processes import wait_until
from tools.execution.runtime import current
from tools.models import ApiOperation, ApiService


@pytest.fixture
def api() -> Iterator[HttpServer]:
    """An HTTP API that answers every request."""
    with http_server() as served:
        yield served


@pytest.fixture
def operation(transactional_db: None, api: HttpServer) -> ApiOperation:
    """An operation whose answers are cached, and given as the last known."""
    service = ApiService(slug="shop", base_url=api.url, prefix="shop_", retries=0)
    service.allowed_networks = ["127.0.0.1/32"]
    service.save()
    tool = make_tool(name="shop_items", cache_ttl_seconds=600)
    made = ApiOperation(service=service, tool=tool, method="GET", path="/old")
    made.save()
    return made


def move(operation: ApiOperation, path: str) -> None:
    """Have it ask for something else, and wait until the process serves it so."""
    operation.path = path
    operation.save()
    wait_until(lambda: bound_path() == path, what="the changed operation")


def bound_path() -> str:
    return str(current().directory.catalogue.tools["shop_items"].binding["operation"]["path"])


def test_a_changed_operation_is_asked_at_once(
    door: RestDoor, api: HttpServer, operation: ApiOperation
) -> None:
    api.always = Reply(body=b'{"from": "old"}')
    hits = [door.call("shop_items", {}).json()["meta"]["cache_hit"] for _ in range(2)]
    api.always = Reply(body=b'{"from": "new"}')
    move(operation, "/new")
    answer = door.call("shop_items", {}).json()
    assert (hits, answer["data"], answer["meta"]["cache_hit"]) == (
        [False, True],
        {"from": "new"},
        False,
    )
    assert door.call("shop_items", {}).json()["meta"]["cache_hit"] is True
    # What the old one answered holds again when it is as it was.
    move(operation, "/old")
    assert door.call("shop_items", {}).json()["data"] == {"from": "old"}


def test_the_last_answer_of_a_changed_operation_is_not_given_while_its_api_is_down(
    door: RestDoor, api: HttpServer, operation: ApiOperation
) -> None:
    api.always = Reply(body=b'{"from": "old"}')
    assert door.call("shop_items", {}).json()["success"] is True
    api.always = Reply(status=503, body=b"{}")
    move(operation, "/new")
    assert door.call("shop_items", {}).json()["success"] is False
