"""The nine shipped tools, as the catalogue takes them."""

from __future__ import annotations

import inspect
import re

import pytest
from nsip_client import NSIPClient  # type: ignore[import-untyped]

from tests.nsip.calls import TOOLS
from tools.backends.http_api.adapters import ADAPTERS
from tools.context.rules import faults as rule_faults
from tools.models.http_rules import address_faults, operation_faults
from tools.schemas import fill_defaults, object_schema_faults
from tools.services.nsip_tools import NSIP, NSIP_TOOLS, PREFIX, NsipTool

METHODS = {
    "nsip_get_last_update": "get_date_last_updated",
    "nsip_list_breeds": "get_available_breed_groups",
    "nsip_get_statuses": "get_statuses_by_breed_group",
    "nsip_get_trait_ranges": "get_trait_ranges_by_breed",
    "nsip_search_animals": "search_animals",
    "nsip_get_animal": "get_animal_details",
    "nsip_get_lineage": "get_lineage",
    "nsip_get_progeny": "get_progeny",
    "nsip_search_by_lpn": "search_by_lpn",
}
# Words that say nothing about what a method is for.
FILLING = {"a", "an", "the", "of", "for", "with", "by", "to", "on", "and", "was", "their", "its"}


def words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower())} - FILLING


def test_the_nine_tools_are_there_each_with_its_method() -> None:
    # S4-001 S4-002 F4-01
    assert {tool.name: tool.method_name for tool in NSIP_TOOLS} == METHODS
    assert all(tool.name.startswith(PREFIX) for tool in NSIP_TOOLS)
    assert set(METHODS) <= set(ADAPTERS)


@pytest.mark.parametrize("tool", NSIP_TOOLS, ids=lambda tool: tool.name)
def test_each_tool_is_sound(tool: NsipTool) -> None:
    # S4-003 S4-004 S4-006 C03
    assert object_schema_faults(tool.input_schema) == []
    assert operation_faults(tool.operation.to_json(), tool.input_schema) == {
        "path": [],
        "parameters": [],
        "headers": [],
        "select": [],
    }
    assert rule_faults(dict(tool.rules)) == []
    assert len(tool.description) >= 10
    assert tool.title
    assert (tool.read_only, tool.idempotent, tool.cache_ttl_seconds) == (True, True, 3600)
    assert tool.requires_context_management


@pytest.mark.parametrize("tool", NSIP_TOOLS, ids=lambda tool: tool.name)
def test_each_description_says_what_the_documentation_says(tool: NsipTool) -> None:
    # F4-02
    documented = inspect.getdoc(getattr(NSIPClient, tool.method_name)) or ""
    summary = documented.partition("\n")[0].removeprefix("Convenience method to ")
    assert words(summary) <= words(tool.description) | words("NSIP database")


def test_service_is_the_public_api_without_sign_in() -> None:
    # F4-04
    assert (NSIP.slug, NSIP.base_url) == ("nsip", NSIPClient.BASE_URL)
    assert (NSIP.auth, NSIP.secret, NSIP.allowed_networks) == ("none", "", ())
    assert address_faults(NSIP.base_url) == []


def test_pages_start_at_one_with_twenty_rows() -> None:
    # F4-26
    for name in ("nsip_search_animals", "nsip_get_progeny"):
        filled = fill_defaults(TOOLS[name].input_schema, {})
        assert (filled["page"], filled["page_size"]) == (1, 20)
