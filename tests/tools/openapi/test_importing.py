"""Whole documents: addresses, credentials, annotations, answers, and operations that cannot be served."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.openapi.documents import JSON, document, imported, only, ref, refusal
from tools.openapi import AuthScheme, ImportedOperation, Refused

PET = {"type": "object", "properties": {"name": {"type": "string"}, "secret": {"writeOnly": True}}}


def get(**more: Any) -> dict[str, Any]:
    return {"/pets": {"get": more}}


@pytest.mark.parametrize(
    ("servers", "address", "found"),
    [
        ([{"url": "https://a.example/v1/"}], "", ("https://a.example/v1",)),
        ([{"url": "//a.example"}], "", ("https://a.example",)),
        ([{"url": "/v1"}], "", ("/v1",)),
        ([{"url": "/v1"}], "https://b.example/docs/openapi.json", ("https://b.example/v1",)),
        ([{"url": "."}], "https://b.example/docs/openapi.json", ("https://b.example/docs",)),
        (
            [
                {
                    "url": "https://{region}.a.example:{port}",
                    "variables": {"region": {"default": "eu"}, "port": {"enum": ["8443"]}},
                }
            ],
            "",
            ("https://eu.a.example:8443",),
        ),
        ([{"url": "https://{tenant}.a.example"}], "", ("https://{tenant}.a.example",)),
        ([], "", ("/",)),
        ("none", "", ("/",)),
        ([{}, 5, {"url": 1}], "", ("/",)),
    ],
)
def test_servers_are_filled_in_and_completed(servers: Any, address: str, found: Any) -> None:
    assert imported(document(get(), servers=servers), address=address).servers == found


def test_operations_below_the_servers_address_get_a_longer_path() -> None:
    stated = document(get(servers=[{"url": "http://pets.example/v2"}]))
    assert only(stated).operation.path == "/v2/pets"


def test_operations_at_another_address_are_refused() -> None:
    stated = document(get(servers=[{"url": "https://files.example"}]))
    assert "https://files.example" in refusal(stated)


def test_the_address_most_operations_have_counts_where_the_document_has_none() -> None:
    here = {"servers": [{"url": "https://a.example"}], "get": {}}
    there = {"servers": [{"url": "https://b.example"}], "get": {}}
    found = imported(document({"/a": there, "/b": here, "/c": here}, servers=[]))
    assert found.servers == ("https://a.example",)
    assert [one.key for one in found.refused] == ["GET /a"]


def test_security_schemes_are_told_as_services_know_them() -> None:
    schemes = {
        "tls": {"type": "mutualTLS"},
        "digest": {"type": "http", "scheme": "digest"},
        "broken": "x",
        "key": {"type": "apiKey", "in": "query", "name": "api_key"},
        "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "nameless": {"type": "apiKey", "in": "header"},
        "user": {"type": "http", "scheme": "Basic"},
        "token": {"type": "http", "scheme": "bearer"},
        "oauth": {"type": "oauth2", "flows": {"x": {"tokenUrl": "https://a.example/token"}}},
    }
    stated = document(get(), components={"securitySchemes": schemes}, security=[{"token": []}])
    found = {one.key: one for one in imported(stated).security}
    assert next(iter(found)) == "token"
    assert [one.key for one in found.values() if one.kind == "unsupported"] == [
        "tls",
        "digest",
        "broken",
        "nameless",
    ]
    assert all(one.note for one in found.values() if one.kind == "unsupported")
    assert found["key"] == AuthScheme("key", "query", "api_key")
    assert found["header"] == AuthScheme("header", "header", "X-Key")
    assert found["cookie"] == AuthScheme("cookie", "cookie", "sid")
    assert found["user"] == AuthScheme("user", "basic")
    assert found["oauth"].kind == "bearer"
    assert "https://a.example/token" in found["oauth"].note


@pytest.mark.parametrize(
    ("asked", "warns"),
    [
        ([{"tls": []}], True),
        ([{"tls": []}, {"token": []}], False),
        ([], False),
        ([{"token": [], "user": []}], True),
    ],
)
def test_operations_that_need_other_credentials_say_so(asked: Any, warns: bool) -> None:
    schemes = {
        "tls": {"type": "mutualTLS"},
        "token": {"type": "http", "scheme": "bearer"},
        "user": {"type": "http", "scheme": "basic"},
    }
    stated = document(get(security=asked), components={"securitySchemes": schemes})
    assert bool(only(stated).warnings) is warns


@pytest.mark.parametrize(
    ("method", "read_only", "destructive", "idempotent"),
    [
        ("get", True, False, True),
        ("head", True, False, True),
        ("query", True, False, True),
        ("post", False, False, False),
        ("patch", False, False, False),
        ("put", False, False, True),
        ("delete", False, True, True),
    ],
)
def test_annotations_follow_the_method(
    method: str, read_only: bool, destructive: bool, idempotent: bool
) -> None:
    found = only(document({"/pets": {method: {"tags": ["pets", 5], "deprecated": True}}}, "3.2.0"))
    assert (found.read_only, found.destructive, found.idempotent) == (
        read_only,
        destructive,
        idempotent,
    )
    assert found.tags == ("pets",)
    assert found.deprecated


def answer(content: Any, status: str = "200") -> dict[str, Any]:
    return get(responses={status: {"description": "", "content": content}})


def test_answers_are_described_where_they_are_objects() -> None:
    schemas = {"Pet": PET}
    found = only(document(answer({JSON: {"schema": ref("Pet")}}), components={"schemas": schemas}))
    assert found.output_schema is not None
    assert found.output_schema["properties"] == {"name": {"type": "string"}}
    assert found.operation.accept == JSON
    for schema in ({"type": "array"}, {"$ref": "other.json"}, {}, 5):
        assert only(document(answer({JSON: {"schema": schema}}))).output_schema is None


@pytest.mark.parametrize(
    ("types", "accept"),
    [
        (["text/csv", "application/pdf"], "text/csv, application/pdf"),
        (["application/xml", "application/vnd.pets+json"], "application/vnd.pets+json"),
        (["application/xml", JSON], JSON),
        (["*/*"], JSON),
        ([], JSON),
    ],
)
def test_the_media_types_of_answers_are_asked_for(types: list[str], accept: str) -> None:
    assert only(document(answer({one: {} for one in types}, "2XX"))).operation.accept == accept


def test_one_bad_operation_does_not_stop_the_others() -> None:
    paths = {
        "/a": {"get": {}, "post": 5, "x-own": {}, "summary": "A"},
        "/b": 7,
        "/c": {"$ref": "#/nowhere"},
        "d": {"get": {}},
        "/e": {"additionalOperations": {"COPY": {}, "QUERY": {}}},
        "/f": {"get": {"parameters": {}}},
        "x-own": {"get": {}},
    }
    found = imported(document(paths, "3.2.0"))
    assert [one.key for one in found.operations] == ["GET /a", "QUERY /e"]
    assert [one.key for one in found.refused] == [
        "POST /a", "* /b", "* /c", "GET d", "COPY /e", "GET /f",
    ]  # fmt: skip
    assert all(one.reason.endswith(".") for one in found.refused)
    assert found.refused[4] == Refused(
        "COPY /e",
        "COPY is not a method that can be sent. Use one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, QUERY.",
    )


def test_operations_survive_being_kept_as_json() -> None:
    paths = {"/pets/{id}": {"put": {"parameters": [{"name": "id", "in": "path"}], "tags": ["a"]}}}
    operation = only(document(paths))
    assert ImportedOperation.from_json(operation.to_json()) == operation


def test_broken_answers_do_not_cost_the_operation() -> None:
    responses = {"200": {"$ref": "#/nowhere"}, "204": {"description": "nothing"}}
    assert only(document(get(responses=responses))).output_schema is None
    assert only(document(get(responses=5))).operation.accept == JSON


def test_media_types_of_answers_cannot_carry_headers() -> None:
    found = only(document(answer({"text/csv\r\nX-Evil: 1": {}, "text/csv": {}})))
    assert found.operation.accept == "text/csv"


def test_very_large_answers_are_not_described() -> None:
    fields = {f"field_{number}": {"type": "string"} for number in range(200)}
    schemas = {
        f"L{n}": {"type": "object", "properties": {**fields, "next": ref(f"L{n + 1}")}}
        for n in range(9)
    }

    def described(name: str) -> bool:
        stated = answer({JSON: {"schema": ref(name)}})
        components = {"schemas": {**schemas, "L9": {"type": "object"}}}
        return only(document(stated, components=components)).output_schema is not None

    assert described("L8")
    assert not described("L0")
