"""The page on which a tool is tried: a tool with arguments of many kinds, and its buttons."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from tests.tools.admin.pages import untouched
from tools.models import Tool

SCHEMA = {
    "type": "object",
    "required": ["query", "limit", "place"],
    "properties": {
        "query": {"type": "string", "description": "What to look for.", "maxLength": 500},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
        "order": {"enum": ["near", "far", 3]},
        "deep": {"type": "boolean"},
        "since": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "place": {
            "type": "object",
            "required": ["city"],
            "properties": {
                "city": {"type": "string", "default": "Bern"},
                "zip": {"type": "integer"},
            },
        },
        "owner": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 3}},
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    },
}


def page_of(tool: Tool) -> str:
    return reverse("admin:tools_tool_try", args=[tool.pk])


def press(
    client: Client, tool: Tool, button: str = "_run", value: str = "1", **changes: Any
) -> Any:
    """The form as it is shown, with `changes`, by one of its buttons."""
    data = untouched(client, page_of(tool)) | changes
    kept = {name: one for name, one in data.items() if one is not None}
    return client.post(page_of(tool), {**kept, button: value}, follow=True)
