"""Pipelines in the admin, and what the page of a pipeline's tool says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.factories import make_corpus, make_pipeline, make_tool, make_version
from tests.tools.admin.pages import address, submit, text, untouched
from tools.models import PipelineConfig, Tool
from tools.models.corpora import VersionState
from tools.techniques import techniques

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def add(client: Client, **fields: Any) -> Any:
    values = {"pipeline_name": "crag", "corpus": make_corpus().pk, **fields}
    return submit(client, address(PipelineConfig, "add"), **values)


def test_a_pipeline_is_added_and_brings_its_tool(admin_client: Client) -> None:
    # S0-053 S0-054 S0-063
    page = add(admin_client, default_parameters='{"confidence_threshold": 0.7}')
    assert "was added successfully" in text(page)
    pipeline = PipelineConfig.objects.get()
    assert pipeline.tool.name == "rag_crag"
    assert pipeline.default_parameters == {"confidence_threshold": 0.7}
    limits = pipeline.resource_limits
    assert (limits.max_concurrent_queries, limits.timeout_seconds, limits.max_tokens) == (
        5,
        30,
        4096,
    )


def test_techniques_are_offered_that_have_no_pipeline_yet(admin_client: Client) -> None:
    make_pipeline(pipeline_name="basic")
    page = text(admin_client.get(address(PipelineConfig, "add")))
    offered = {name for name in techniques.names() if f'<option value="{name}"' in page}
    assert offered == set(techniques.names()) - {"basic"}
    # The tool comes by itself, and there is no state to look at yet.
    assert 'name="tool"' not in page
    assert "Status" not in page


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("default_parameters", '{"rrf_k": 60}', "rrf_k"),
        ("default_parameters", '{"confidence_threshold": 2}', "confidence_threshold"),
        ("default_parameters", '{"top_k": ', "Not valid JSON at line 1"),
        ("default_parameters", "[]", "Must be"),
        ("max_concurrent_queries", "6", "less than or equal to 5"),
        ("timeout_seconds", "61", "less than or equal to 60"),
        ("max_tokens", "1", "greater than or equal to 16"),
        ("corpus", "", "This field is required"),
        ("pipeline_name", "guessing", "Select a valid choice"),
    ],
)
def test_a_wrong_value_is_told_beside_its_field_and_nothing_is_saved(
    admin_client: Client, field: str, value: str, told: str
) -> None:
    # S0-056 S0-058 S0-059
    page = add(admin_client, **{field: value})
    assert page.status_code == 200
    assert told in text(page)
    assert not PipelineConfig.objects.exists()
    assert not Tool.objects.exists()


def test_a_name_that_another_tool_has_is_told(admin_client: Client) -> None:
    make_tool(name="rag_crag")
    assert "Another tool is named rag_crag" in text(add(admin_client))
    assert not PipelineConfig.objects.exists()


def test_the_technique_stays_and_the_rest_can_change(admin_client: Client) -> None:
    pipeline = make_pipeline(default_parameters={"top_k": 7})
    url = address(PipelineConfig, "change", pipeline.pk)
    submit(admin_client, url, pipeline_name="crag", timeout_seconds="9")
    pipeline.refresh_from_db()
    assert (pipeline.pipeline_name, pipeline.timeout_seconds) == ("basic", 9)
    assert pipeline.default_parameters == {"top_k": 7}
    assert Tool.objects.get().timeout_seconds == 9


def test_saving_an_untouched_form_changes_nothing(admin_client: Client) -> None:
    pipeline = make_pipeline(default_parameters={"top_k": 7}, web_search_tool=make_tool())
    before = PipelineConfig.objects.values().get()
    url = address(PipelineConfig, "change", pipeline.pk)
    assert "was changed successfully" in text(submit(admin_client, url))
    after = PipelineConfig.objects.values().get()
    assert after.pop("updated_at") > before.pop("updated_at")
    assert after == before


def test_a_technique_that_is_gone_is_told_and_not_a_crash(admin_client: Client) -> None:
    pipeline = make_pipeline()
    PipelineConfig.objects.filter(pk=pipeline.pk).update(pipeline_name="retired")
    url = address(PipelineConfig, "change", pipeline.pk)
    assert "no module registers this technique" in text(admin_client.get(url))
    page = submit(admin_client, url)
    assert "Must be one of" in text(page)


def test_page_says_how_it_is_and_what_callers_may_send(admin_client: Client) -> None:
    # S0-062 S0-014
    corpus = make_corpus(slug="papers")
    pipeline = make_pipeline(corpus=corpus)
    url = address(PipelineConfig, "change", pipeline.pk)
    page = text(admin_client.get(url))
    assert "unavailable" in page
    assert "The corpus papers has no index yet." in page
    make_version(corpus, state=VersionState.ACTIVE)
    page = text(admin_client.get(url))
    assert "The corpus papers has no index yet." not in page
    assert "from 1 to 50" in page
    assert address(Tool, "change", pipeline.tool_id) in page


def test_list_costs_the_same_queries_for_any_number_of_pipelines(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    names = techniques.names()
    make_pipeline(pipeline_name=names[0])
    url = address(PipelineConfig, "changelist")
    page = text(admin_client.get(url))
    assert "5 at once, 30 s" in page
    for name in names[1:]:
        make_pipeline(pipeline_name=name)
    with django_assert_max_num_queries(8 + 3 * len(names)):
        admin_client.get(url)


def test_a_pipelines_tool_is_managed_by_its_pipeline(admin_client: Client) -> None:
    pipeline = make_pipeline(timeout_seconds=9)
    url = address(Tool, "change", pipeline.tool_id)
    page = text(admin_client.get(url))
    assert address(PipelineConfig, "change", pipeline.pk) in page
    assert "Deleting this tool deletes the pipeline." in page
    fields = untouched(admin_client, url)
    assert {"timeout_seconds", "max_concurrent", "input_schema", "handler"}.isdisjoint(fields)
    submit(admin_client, url, title="Ask the handbook", timeout_seconds="60")
    tool = Tool.objects.get()
    assert (tool.title, tool.timeout_seconds) == ("Ask the handbook", 9)
    listed = text(admin_client.get(address(Tool, "delete", tool.pk)))
    assert "pipeline" in listed.lower()
    admin_client.post(address(Tool, "delete", tool.pk), {"post": "yes"})
    assert not PipelineConfig.objects.exists()


def test_a_tool_of_a_pipeline_is_not_made_by_hand(admin_client: Client) -> None:
    fields = {
        "name": "rag_mine",
        "description": "Searches what is not there.",
        "input_schema": json.dumps({"type": "object", "properties": {}}),
        "source": "pipeline",
        "handler": "basic",
    }
    page = submit(admin_client, address(Tool, "add"), **fields)
    assert "Add a pipeline instead" in text(page)
    assert not Tool.objects.exists()
