"""Requests generated from the OpenAPI document, and arbitrary ones: no 500, no answer of another shape."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
import schemathesis
from django.core.management import call_command
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from tests.doors import RestDoor
from tests.factories import make_service
from tools.errors import ErrorCode
from tools.models import ServiceConfiguration

ENVELOPE_KEYS = {"success", "data", "error", "code", "request_id", "timestamp", "meta"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TOOLS = ("server_metrics", "rag_metrics", "rag_health_check", "read_result")


@pytest.fixture
def demo(door: RestDoor) -> RestDoor:
    make_service(security_rate_limit=10_000_000)
    call_command("seed_demo", verbosity=0)
    assert ServiceConfiguration.objects.count() == 1
    return door.start()


def check_envelope(status: int, body: Any) -> None:
    """The answer is an envelope that agrees with its status."""
    assert status < 500, body
    assert set(body) <= ENVELOPE_KEYS
    assert {"success", "request_id", "timestamp"} <= set(body)
    assert body["success"] is (status == 200)
    if status != 200:
        assert body["code"] in set(ErrorCode)
        assert body["error"]


def generated(examples: int) -> Any:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def attack_the_document(door: RestDoor, examples: int) -> None:
    document = schemathesis.openapi.from_url(f"{door.url}/api/schema")
    seen = 0
    for result in document.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        if operation.path not in {"/tools", "/call-tool", "/health", "/metrics"}:
            continue
        # Only a request with a body can be wrong by the document's own words.
        modes = list(GenerationMode) if operation.method == "post" else [GenerationMode.POSITIVE]
        for mode in modes:
            attack(operation.as_strategy(generation_mode=mode), examples)
            seen += 1
    assert seen == 5


def attack(cases: Any, examples: int) -> None:
    @generated(examples)
    @given(case=cases)
    def one(case: Any) -> None:
        answer = case.call()
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        if answer.status_code == 200 and case.path != "/call-tool":
            return
        if case.path == "/health" and answer.status_code == 503:
            return
        check_envelope(answer.status_code, answer.json())

    one()


def test_requests_generated_from_the_document_stay_in_the_envelope(demo: RestDoor) -> None:
    # F3-29 F3-31 F0-31
    attack_the_document(demo, examples=60)


@pytest.mark.soak
def test_many_generated_requests_stay_in_the_envelope(demo: RestDoor) -> None:
    attack_the_document(demo, examples=3000)


def test_arbitrary_json_stays_in_the_envelope(demo: RestDoor) -> None:
    # F3-31
    with httpx2.Client(base_url=demo.url) as client:

        @generated(200)
        @given(body=JSON)
        def any_body(body: Any) -> None:
            sent = json.dumps(body).encode("utf-8", "surrogatepass")
            headers = {"Content-Type": "application/json"}
            answer = client.post("/call-tool", content=sent, headers=headers)
            check_envelope(answer.status_code, answer.json())

        any_body()


def test_arbitrary_arguments_stay_in_the_envelope(demo: RestDoor) -> None:
    # F0-03 F3-31
    with httpx2.Client(base_url=demo.url) as client:

        @generated(200)
        @given(tool=st.sampled_from(TOOLS), arguments=JSON)
        def any_arguments(tool: str, arguments: Any) -> None:
            sent = json.dumps({"tool": tool, "arguments": arguments}).encode(
                "utf-8", "surrogatepass"
            )
            headers = {"Content-Type": "application/json"}
            answer = client.post("/call-tool", content=sent, headers=headers)
            check_envelope(answer.status_code, answer.json())

        any_arguments()
