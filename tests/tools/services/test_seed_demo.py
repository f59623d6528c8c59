"""Demo data: complete the first time, and no hand on what an operator changed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.factories import (
    make_client,
    make_prompt,
    make_resource,
    make_service,
    make_tool,
)
from tools.backends.builtin import BUILTINS
from tools.conf import deployment
from tools.errors import ErrorDetails
from tools.guards.keys import hash_key
from tools.models import ApiClient, Prompt, Resource, ServiceConfiguration, Tool, Toolset
from tools.selectors import load_catalogue
from tools.services.seed_demo import seed_demo

pytestmark = pytest.mark.django_db


@pytest.fixture
def service_name(settings: Settings) -> Iterator[str]:
    """The environment names the service."""
    overrides = {"SERVICE__NAME": "todo-server"}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "SERVICE_OVERRIDES": overrides}
    deployment.cache_clear()
    yield "todo-server"
    deployment.cache_clear()


def test_first_run_gives_a_service_that_can_be_called() -> None:
    # C19 S0-006
    result = seed_demo(servers=False)
    service = ServiceConfiguration.objects.get()
    assert service.service_name == "mcp-control-plane"
    assert not service.security_api_keys_enabled
    assert not service.to_settings().reachable_from_network
    assert {tool.name for tool in Tool.objects.filter(enabled=True, source="builtin")} == set(
        BUILTINS
    )
    hints = {"builtin": "Use it", "pipeline": " best "}
    offered = load_catalogue().tools
    assert all(hints[tool.source] in tool.description for tool in offered.values())
    # Ready in the admin, and switched off.
    assert Tool.objects.filter(name__startswith="nsip_").count() == 9
    assert not any(name.startswith("nsip_") for name in offered)
    assert Toolset.objects.get(slug="all").includes_all
    client = ApiClient.objects.get(name="demo")
    assert result.demo_key is not None
    assert client.key_hash == hash_key(result.demo_key)
    assert [toolset.slug for toolset in client.toolsets.all()] == ["all"]
    assert result.demo_key not in repr(result)


def test_first_run_gives_a_prompt_and_a_resource_to_try() -> None:
    seed_demo(servers=False)
    prompt, resource = Prompt.objects.get(), Resource.objects.get()
    assert (prompt.name, prompt.problems()) == ("summarise_calls", [])
    assert (resource.uri, resource.problems()) == ("controlplane://guide", [])
    catalogue = load_catalogue()
    everything = catalogue.toolsets["all"]
    assert everything.prompts == {"summarise_calls"}
    assert everything.resources == {"controlplane://guide"}
    named = set(re.findall(r"`([a-z]+_[a-z]+)`", resource.text))
    fields = {field.name for field in dataclasses.fields(ErrorDetails)} | {"request_id"}
    assert named - fields <= set(BUILTINS)


def test_demo_prompt_and_resource_do_not_come_back_where_others_are() -> None:
    make_prompt(name="ours")
    make_resource(uri="docs://ours")
    seed_demo(servers=False)
    assert [prompt.name for prompt in Prompt.objects.all()] == ["ours"]
    assert [resource.uri for resource in Resource.objects.all()] == ["docs://ours"]


def test_second_run_changes_nothing() -> None:
    seed_demo(servers=False)
    before = list(Tool.objects.order_by("pk").values())
    result = seed_demo(servers=False)
    assert (result.created, result.updated, result.skipped, result.demo_key) == ([], [], [], None)
    assert list(Tool.objects.order_by("pk").values()) == before


def test_what_an_operator_changed_stays() -> None:
    seed_demo(servers=False)
    tool = Tool.objects.get(name="server_metrics")
    tool.enabled, tool.timeout_seconds, tool.description = False, 7, "Our own words for this tool."
    tool.save()
    ServiceConfiguration.objects.update(security_rate_limit=77)
    Toolset.objects.update(includes_all=False)
    seed_demo(servers=False)
    tool.refresh_from_db()
    assert (tool.enabled, tool.timeout_seconds, tool.description) == (
        False,
        7,
        "Our own words for this tool.",
    )
    assert ServiceConfiguration.objects.get().security_rate_limit == 77
    assert not Toolset.objects.get().includes_all


def test_builtin_whose_definition_changed_is_renewed_and_keeps_its_switches() -> None:
    seed_demo(servers=False)
    # The state an older version of the code left behind.
    row = Tool.objects.get(name="server_metrics")
    row.description, row.input_schema = "What it said before.", {"type": "object", "properties": {}}
    row.metadata = {"definition": "0" * 16, "owner": "platform"}
    row.enabled, row.timeout_seconds = False, 9
    row.save()
    assert seed_demo(servers=False).updated == ["tool server_metrics"]
    row.refresh_from_db()
    assert row.description == BUILTINS["server_metrics"].description
    assert row.input_schema == BUILTINS["server_metrics"].input_schema
    assert (row.enabled, row.timeout_seconds, row.metadata["owner"]) == (False, 9, "platform")
    assert seed_demo(servers=False).updated == []


def test_name_taken_by_another_source_is_left_alone() -> None:
    make_tool(name="server_metrics", source="http_api")
    result = seed_demo(servers=False)
    assert result.skipped == ["tool server_metrics: the name is taken by a tool of source http_api"]
    assert Tool.objects.get(name="server_metrics").source == "http_api"


def test_row_that_cannot_be_renewed_is_reported_not_fatal() -> None:
    seed_demo(servers=False)
    Tool.objects.filter(name="read_result").update(metadata={}, tags={"not": "a list"})
    (skipped,) = seed_demo(servers=False).skipped
    assert skipped.startswith("tool read_result: tags:")


def test_service_configured_under_another_name_is_not_displaced() -> None:
    make_service(service_name="todo")
    seed_demo(servers=False)
    assert [row.service_name for row in ServiceConfiguration.objects.all()] == ["todo"]


def test_service_takes_the_name_from_the_environment(service_name: str) -> None:
    make_service(service_name="other")
    assert f"service {service_name}" in seed_demo(servers=False).created
    assert ServiceConfiguration.objects.filter(service_name=service_name).exists()
    assert f"service {service_name}" not in seed_demo(servers=False).created


def test_demo_client_does_not_come_back_where_others_are() -> None:
    make_client(name="agent")
    assert seed_demo(servers=False).demo_key is None
    assert [client.name for client in ApiClient.objects.all()] == ["agent"]
