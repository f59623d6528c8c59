"""Without a collector nothing is loaded, nothing is exported, and contexts pass through."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from controlplane.env import EnvironmentFault, read_environment
from tests.controlplane.stack import Stack, stack
from tests.doors import RestDoor
from tests.http_server import http_server
from tests.tools.tracing.collector import Collector
from tests.tools.tracing.test_calls import PARENT, make_shop
from tools.conf import deployment
from tools.tracing import begin_spans

# A call by the command, then what of OpenTelemetry its process has loaded.
PROGRAM = """
import json, sys
from django.core.management import call_command
call_command("call_tool", "server_metrics")
loaded = [name for name, module in sys.modules.items() if module is not None]
print(json.dumps(sorted(name for name in loaded if name.startswith("opentelemetry."))))
"""


@pytest.fixture(scope="module")
def migrated() -> Iterator[Stack]:
    """A folder with a database and tools; no process runs in it."""
    with stack() as made:
        assert made.manage("seed_demo").returncode == 0
        yield made


def loaded(made: Stack, **environment: str) -> list[str]:
    """The modules of OpenTelemetry in a fresh process that has made a call."""
    done = made.manage("shell", "--no-imports", "-c", PROGRAM, **environment)
    assert done.returncode == 0, done.stderr
    answer, _, modules = done.stdout.strip().rpartition("\n")
    assert json.loads(answer)["success"]
    names: list[str] = json.loads(modules)
    return names


def test_a_process_without_a_collector_does_not_load_the_sdk(migrated: Stack) -> None:
    found = loaded(migrated)
    assert not [
        name for name in found if name.startswith(("opentelemetry.sdk", "opentelemetry.exp"))
    ]


def test_a_process_with_a_collector_loads_it_and_exports(
    migrated: Stack, collector: Collector
) -> None:
    named = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "by-hand"}
    found = loaded(migrated, **named)
    assert "opentelemetry.sdk.trace" in found
    call = collector.find(lambda span: span.name == "tools/call server_metrics")
    assert call.attributes["controlplane.transport"] == "cli"
    assert call.resource["service.name"] == "by-hand"


def test_a_disabled_sdk_is_not_loaded_whatever_else_is_set(
    migrated: Stack, collector: Collector
) -> None:
    found = loaded(migrated, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_SDK_DISABLED="true")
    assert not [name for name in found if name.startswith("opentelemetry.sdk")]
    assert collector.requests == 0


def test_the_callers_context_passes_through(door: RestDoor) -> None:
    assert deployment().tracing is None
    with http_server() as api:
        make_shop(api.url)
        headers = {"traceparent": PARENT, "tracestate": "a=1", "baggage": "u=7"}
        request_id = door.call("shop_find", headers=headers).json()["request_id"]
    (asked,) = api.asked
    assert begin_spans("one", {}) is None
    assert (asked.header("traceparent"), asked.header("tracestate")) == (PARENT, "a=1")
    assert (asked.header("baggage"), asked.header("x-request-id")) == (None, request_id)


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318", "expected https://host/path"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://x", "expected https://host/path"),
        ("OTEL_TRACES_SAMPLER", "sometimes", "expected one of always_on, always_off"),
        ("OTEL_TRACES_SAMPLER_ARG", "10", "expected a number from 0 to 1"),
        ("OTEL_TRACES_SAMPLER_ARG", "half", "expected a number from 0 to 1"),
        ("OTEL_SDK_DISABLED", "maybe", "expected true or false"),
    ],
)
def test_a_variable_that_cannot_be_used_stops_the_start(name: str, value: str, fault: str) -> None:
    with pytest.raises(EnvironmentFault, match=f"{name}: {fault}"):
        read_environment({name: value})
