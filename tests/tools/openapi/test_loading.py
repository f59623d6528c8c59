"""What counts as a document, and what is said of a text that is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tools.openapi.documents import document
from tools.openapi import DocumentFault, operations, read_document

YAML = """
openapi: 3.0.3
info: {title: Pets, version: 1.0}
paths:
  /pets:
    get:
      summary: List the pets
      parameters:
        - {name: country, in: query, schema: {type: string, enum: [NO, SE, on, 2020-01-01, 012]}}
      responses:
        200: {description: fine}
"""


def test_yaml_and_json_give_the_same_operations() -> None:
    as_json = json.dumps(
        document(
            {
                "/pets": {
                    "get": {
                        "summary": "List the pets",
                        "parameters": [
                            {
                                "name": "country",
                                "in": "query",
                                "schema": {
                                    "type": "string",
                                    "enum": ["NO", "SE", "on", "2020-01-01", "012"],
                                },
                            }
                        ],
                        "responses": {"200": {"description": "fine"}},
                    }
                }
            }
        )
    )
    from_yaml = operations(read_document(YAML)).operations
    assert from_yaml == operations(read_document(as_json)).operations


def test_anchors_and_merge_keys_of_yaml_are_followed() -> None:
    text = (
        "openapi: '3.0.0'\nx-a: &a {get: {summary: List them all}}\npaths: {/b: {<<: *a}, /c: *a}"
    )
    keys = [one.key for one in operations(read_document(text)).operations]
    assert keys == ["GET /b", "GET /c"]


@pytest.mark.parametrize("version", ["2.0", "3.0.0", "3.0.4", "3.1.0", "3.1", "3.2.0", "3.1.0-rc1"])
def test_known_versions_are_read(version: str) -> None:
    key = "swagger" if version == "2.0" else "openapi"
    assert read_document(json.dumps({key: version, "paths": {}})).version == version


def test_versions_written_as_numbers_are_read() -> None:
    assert read_document("swagger: 2.0\npaths: {}").version == "2.0"
    assert read_document('{"swagger": 2, "paths": {}}').version == "2.0"


def test_bytes_with_a_mark_of_their_order_are_read() -> None:
    assert read_document(b'\xef\xbb\xbf{"openapi": "3.0.0"}').version == "3.0.0"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("<!doctype html><html>", "web page"),
        ("[1, 2]", "not an object"),
        ("just words", "not an object"),
        ('{"openapi": "3.0.0",', "not valid JSON"),
        ("openapi: 3.0.0\n  bad: [", "not valid YAML"),
        ('{"openapi": "4.0.0"}', "3.0, 3.1 or 3.2"),
        ('{"swagger": "1.2"}', "Swagger 2.0"),
        ('{"openapi": ["3.0.0"]}', "no OpenAPI document"),
        ('{"openapi": true}', "no OpenAPI document"),
        ('{"swaggerVersion": "1.2"}', "a Swagger 1 document"),
        ('{"asyncapi": "3.0.0"}', "an AsyncAPI document"),
        ('{"info": {}, "item": []}', "a Postman collection"),
        (b"\xff\xfe\x00bad", "UTF-8"),
        ("openapi: !!python/object/apply:os.getcwd []", "not valid YAML"),
        ("openapi: 3.0.0\nx: !!binary aGk=", "what JSON has"),
        ("openapi: 3.0.0\nx: {[1, 2]: 3}", "what JSON has"),
    ],
)
def test_other_texts_are_refused_with_a_reason(text: Any, says: str) -> None:
    with pytest.raises(DocumentFault, match=says):
        read_document(text)


def _bomb() -> str:
    levels = "".join(
        f"{name}: &{name} [{','.join([f'*{below}'] * 9)}]\n"
        for below, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    return f"openapi: 3.0.0\na: &a [x, x, x]\n{levels}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_bomb(), "aliases"),
        ("openapi: 3.0.0\na: &a {b: *a}", "stands for nothing or for itself"),
        ("openapi: 3.0.0\na: *unknown", "stands for nothing or for itself"),
        ("openapi: 3.0.0\na: " + "[" * 5_000, "nested deeper"),
        ('{"openapi": "3.0.0", "a": ' + "[" * 500 + "]" * 500 + "}", "levels deep"),
        ('{"openapi": "3.0.0", "a": ' + "[" * 5_000 + "]" * 5_000 + "}", "nested deeper"),
        (" " * 20_000_001, "at most 20,000,000"),
    ],
)
def test_texts_that_would_grow_without_end_are_refused(text: str, says: str) -> None:
    with pytest.raises(DocumentFault, match=says):
        read_document(text)


def test_what_no_database_keeps_is_left_out() -> None:
    text = '{"openapi": "3.0.0", "paths": {"/a": {"get": {"summary": "Nothing\\u0000 to see"}}}}'
    (operation,) = operations(read_document(text)).operations
    assert operation.description == "Nothing to see"


def test_numbers_and_keys_of_yaml_are_those_of_json() -> None:
    text = (
        f"openapi: 3.0.0\nx: {{1: a, true: b, null: c, 1.10: d, big: {'9' * 30}, f: 1.5e3, i: -7}}"
    )
    assert read_document(text).root["x"] == {
        "1": "a", "true": "b", "null": "c", "1.10": "d", "big": 1e30, "f": 1500.0, "i": -7,
    }  # fmt: skip
