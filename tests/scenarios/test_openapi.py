"""A real document from import to call: every operation reaches the server it describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.doors import RestDoor
from tests.factories import make_service
from tests.openapi_server import document_server
from tests.tools.openapi.real_documents import real_text
from tools.models import ApiService, Tool
from tools.services.import_openapi import apply, preview

FORMATS = {
    "date": "2026-01-02",
    "date-time": "2026-01-02T03:04:05Z",
    "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "email": "somebody@example.org",
    "uri": "https://example.org/",
}


def sample(schema: Mapping[str, Any]) -> Any:
    """The least value that a schema takes."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        given = schema.get("properties", {})
        return {name: sample(given[name]) for name in schema.get("required", ()) if name in given}
    if kind == "array":
        return [sample(schema.get("items", {}))]
    usual = {"integer": 7, "number": 7.5, "boolean": True, "null": None}
    if kind in usual:
        return usual[kind]
    return FORMATS.get(schema.get("format", ""), "a b/ü")


@pytest.mark.parametrize(("name", "least"), [("petstore", 20), ("train-travel", 7)])
def test_every_operation_of_a_real_document_reaches_its_server(
    door: RestDoor, name: str, least: int
) -> None:
    text = real_text(name)
    make_service(security_rate_limit=1000)
    with document_server(yaml.safe_load(text)) as address:
        service = ApiService(slug="real", base_url=address, prefix="real_", retries=0)
        service.allowed_networks = ["127.0.0.1/32"]
        found = preview(text, service)
        done = apply(found, service)
        assert len(done.added) == least
        told: dict[str, Any] = {}
        for one in found.imported.operations:
            answer = door.call(one.name, sample(one.input_schema)).json()
            assert answer["success"] is True, (one.key, answer)
            told[one.key] = answer["data"]
    assert {key: data["operation"] for key, data in told.items()} == {
        key: key for key in done.added
    }


def test_arguments_arrive_as_they_were_given(door: RestDoor) -> None:
    with document_server(yaml.safe_load(real_text("petstore"))) as address:
        service = ApiService(slug="pets", base_url=address, prefix="pets_", retries=0)
        service.allowed_networks = ["127.0.0.1/32"]
        apply(preview(real_text("petstore"), service), service)
        pets = door.call("pets_find_pets_by_status", {"status": ["sold", "pending"]}).json()
        pet = door.call("pets_get_pet_by_id", {"petId": 12}).json()
        order = door.call("pets_place_order", {"id": 1, "quantity": 2, "status": "placed"}).json()
        wrong = door.call("pets_get_pet_by_id", {"petId": "twelve"})
    assert dict(pets["data"]["query"])["status"] in {"sold,pending", "pending"}
    assert pet["data"]["path"] == ["12"]
    assert '"quantity"' in order["data"]["body"]
    assert (wrong.status_code, wrong.json()["code"]) == (400, "INVALID_ARGUMENTS")


def test_two_apis_side_by_side_keep_what_they_answered(door: RestDoor) -> None:
    # F4-25
    with (
        document_server(yaml.safe_load(real_text("petstore"))) as pets,
        document_server(yaml.safe_load(real_text("train-travel"))) as trains,
    ):
        for slug, name, address in (("pets", "petstore", pets), ("trains", "train-travel", trains)):
            service = ApiService(slug=slug, base_url=address, prefix=f"{slug}_", retries=0)
            service.allowed_networks = ["127.0.0.1/32"]
            apply(preview(real_text(name), service), service)
        Tool.objects.update(cache_ttl_seconds=600)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("pets_get_inventory", {}),
            ("trains_get_stations", {}),
            ("pets_get_inventory", {}),
        ]
        answers = [door.call(*one).json() for one in asked]
    assert [answer["meta"]["cache_hit"] for answer in answers] == [False, False, True]
    assert answers[0]["data"] == answers[2]["data"]
    assert answers[1]["data"]["operation"] == "GET /stations"
