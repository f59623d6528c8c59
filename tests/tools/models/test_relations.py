"""How the models hang together."""

from __future__ import annotations

from graphlib import TopologicalSorter

from django.apps import apps
from django.db.models import ManyToOneRel, OneToOneRel

from tools.models import Tool, ToolRequest, ToolResponse


def test_models_do_not_refer_to_each_other_in_a_circle() -> None:
    # S3-072
    references = {
        model: {
            field.related_model
            for field in [*model._meta.fields, *model._meta.many_to_many]
            if field.related_model is not None
        }
        for model in apps.get_app_config("tools").get_models()
    }
    order = list(TopologicalSorter(references).static_order())
    assert set(references) <= set(order)


def test_tool_has_many_requests_and_a_request_one_response() -> None:
    # S0-033 S0-052
    requests = Tool._meta.get_field("requests")
    response = ToolRequest._meta.get_field("response")
    assert isinstance(requests, ManyToOneRel)
    assert requests.related_model is ToolRequest
    assert isinstance(response, OneToOneRel)
    assert response.related_model is ToolResponse
    assert ToolResponse._meta.get_field("request").unique


def test_request_and_response_hold_what_a_call_is_known_by() -> None:
    # S0-019 S0-036
    assert {field.name for field in ToolRequest._meta.fields} >= {
        "tool", "query_text", "parameters", "request_id", "received_at", "state", "status", "code",
        "duration_ms", "tokens_before", "tokens_after",
    }  # fmt: skip
    assert {field.name for field in ToolResponse._meta.fields} >= {"request", "response_id", "body"}
    assert ToolRequest._meta.get_field("tool").column == "tool_name"
