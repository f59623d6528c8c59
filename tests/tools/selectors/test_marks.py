"""What stands for a definition in the keys of the cache: which changes make it another one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import make_pipeline, make_tool, make_version
from tests.upstream_rows import make_upstream, offers
from tools.models import ApiOperation, ApiService, PipelineConfig, Tool, UpstreamServer
from tools.models.corpora import VersionState
from tools.selectors import load_catalogue
from tools.services.sync_upstream import record_discovery

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def marks() -> dict[str, str]:
    return {name: spec.mark for name, spec in load_catalogue().tools.items()}


def mark() -> str:
    (found,) = marks().values()
    return found


def change(row: Any, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(row, name, value)
    row.save()


@pytest.fixture
def operation() -> ApiOperation:
    """An operation whose answers are cached."""
    service = ApiService(slug="shop", base_url="https://shop.example/v1", prefix="shop_")
    service.save()
    tool = make_tool(name="shop_items", cache_ttl_seconds=60)
    made = ApiOperation(service=service, tool=tool, method="GET", path="/items")
    made.save()
    return made


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/things"},
        {"method": "POST"},
        {"query": {"limit": "5"}},
        {"headers": {"X-Shop": "two"}},
        {"select": "items"},
        {"parameters": [{"argument": "id", "in": "query"}]},
        {"adapter": "other"},
    ],
)
def test_another_request_is_another_definition(
    operation: ApiOperation, changes: dict[str, Any]
) -> None:
    if "parameters" in changes:
        operation.tool.input_schema["properties"] = {"id": {"type": "integer"}}
        operation.tool.save()
    before = mark()
    change(operation, changes)
    assert mark() not in {before, ""}


@pytest.mark.parametrize(
    "changes",
    [
        {"base_url": "https://shop.example/v2"},
        {"auth": "header", "auth_name": "X-Key"},
        {"secret": "sealed-otherwise"},
        {"headers": {"X-Tenant": "two"}},
        {"allowed_networks": ["10.0.0.0/8"]},
    ],
)
def test_another_service_behind_it_is_another_definition(
    operation: ApiOperation, changes: dict[str, Any]
) -> None:
    before = mark()
    change(operation.service, changes)
    assert mark() not in {before, ""}


def test_arguments_that_mean_something_else_are_another_definition(
    operation: ApiOperation,
) -> None:
    before = mark()
    change(operation.tool, {"output_schema": {"type": "object"}})
    between = mark()
    properties = {"n": {"type": "integer", "description": "In pounds."}}
    change(operation.tool, {"input_schema": {"type": "object", "properties": properties}})
    assert len({before, between, mark()}) == 3


def test_how_patiently_it_is_asked_and_what_it_is_called_change_no_answer(
    operation: ApiOperation,
) -> None:
    before = mark()
    change(operation.service, {"timeout_seconds": 7, "retries": 0, "rate_per_minute": 9})
    change(operation, {"rules": {"keep": ["id"]}})
    words = {"description": "Says it in other words.", "tags": ["a"], "timeout_seconds": 9}
    change(operation.tool, {**words, "cache_ttl_seconds": 90, "token_budget": 500})
    assert mark() == before


def test_secrets_are_not_to_be_read_in_it(operation: ApiOperation) -> None:
    operation.service.set_secret("swordfish")
    operation.service.save()
    assert len(mark()) == 16
    int(mark(), 16)


def test_a_pipeline_that_searches_another_index_or_otherwise_is_another_definition() -> None:
    pipeline = make_pipeline()
    change(pipeline.tool, {"cache_ttl_seconds": 60})
    first = make_version(pipeline.corpus, state="active")
    found = [mark()]
    change(first, {"state": VersionState.RETIRED})
    make_version(pipeline.corpus, state="active")
    found.append(mark())
    change(PipelineConfig.objects.get(), {"default_parameters": {"top_k": 7}})
    found.append(mark())
    change(PipelineConfig.objects.get(), {"max_tokens": 512})
    found.append(mark())
    assert len({*found, ""}) == 5


def test_a_server_that_is_another_one_is_another_definition() -> None:
    server = make_upstream()
    record_discovery(server.slug, offers("look"))
    Tool.objects.update(cache_ttl_seconds=60)
    before = mark()
    change(UpstreamServer.objects.get(), {"call_timeout": 9, "display_name": "Looks"})
    assert mark() == before
    change(UpstreamServer.objects.get(), {"url": "https://mcp.example.org/other"})
    assert mark() not in {before, ""}


def test_what_is_not_cached_has_none() -> None:
    make_tool(name="echo")
    assert marks() == {"echo": ""}
