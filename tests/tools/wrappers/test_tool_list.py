"""What services answer to GET /tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools.wrappers.tool_list import MOST_TOOLS, ListFault, read_tools

GOOD = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}


def read(*tools: Any, **more: Any) -> Any:
    return read_tools(json.dumps({"tools": tools, **more}).replace("Infinity", "1e999").encode())


def test_a_list_is_read_with_its_service_and_version() -> None:
    # S3-064
    found = read(GOOD, {**GOOD, "name": "find"}, service="seekr", version="1.2.3")
    assert (found.service, found.version) == ("seekr", "1.2.3")
    assert [tool.name for tool in found.tools] == ["find", "look"]
    assert found.tools[0].properties == {}


def test_an_envelope_and_the_spelling_of_mcp_are_read_too() -> None:
    listed = {"name": "look", "description": " ", "inputSchema": {"properties": {"a": {}}}}
    body = json.dumps({"success": True, "data": {"tools": [listed]}, "version": 3}).encode()
    tool = read_tools(body).tools[0]
    assert (tool.name, tool.description, list(tool.properties)) == ("look", "look", ["a"])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>", "not JSON"),
        (b"\xff\xfe\xfd", "not JSON"),
        (b'{"tools": NaN}', "NaN is no value of JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no list of tools"),
        (b'{"tools": {}}', "no list of tools"),
        (b'{"data": 3}', "no list of tools"),
        (json.dumps({"tools": [1] * (MOST_TOOLS + 1)}).encode(), "at most 5,000"),
    ],
)
def test_what_is_no_list_is_refused(body: bytes, told: str) -> None:
    with pytest.raises(ListFault, match=told):
        read_tools(body)


@pytest.mark.parametrize(
    "bad",
    [
        *(3, None, {}, {"name": " "}, {"name": "a" * 201, "input_schema": {}}),
        {**GOOD, "input_schema": {"properties": {"a": {"default": 1e999}}}},
        *({**GOOD, "input_schema": {"type": "array"}}, {**GOOD, "input_schema": {"properties": 3}}),
    ],
)
def test_a_bad_tool_spoils_no_other(bad: Any) -> None:
    # F3-23
    found = read(bad, {**GOOD, "name": "find"})
    assert [tool.name for tool in found.tools] == ["find"]
    assert len(found.faults) == 1


def test_halves_of_characters_are_made_whole() -> None:
    body = b'{"tools": [{"name": "x\\ud83d", "description": "\\ud83d\\ude00", "input_schema": {}}]}'
    tool = read_tools(body).tools[0]
    assert (tool.name, tool.description) == ("x�", "😀")
