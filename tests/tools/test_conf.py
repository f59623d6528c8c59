"""The configuration document: what it takes, what it refuses, and that nothing is lost in it."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tools.conf import (
    KEYS,
    ConfigurationFault,
    ServiceSettings,
    parse_document,
    to_document,
    value_faults,
    with_overrides,
)
from tools.services.apply_config import to_yaml

# The example of the seed, in its layout.
EXAMPLE = """\
service:
  name: memgraph-server
  port: 3000
  host: 0.0.0.0
monitoring:
  metrics_enabled: true
  health_check_interval: 30
security:
  api_keys_enabled: true
  rate_limit: 1000
dependencies:
  memgraph:
    host: localhost
    port: 7687
"""


def document(**sections: Any) -> dict[str, Any]:
    service = {"name": "todo", "port": 3000, "host": "127.0.0.1"}
    return {"service": service, **sections}


def faults_of(candidate: Any) -> list[str]:
    with pytest.raises(ConfigurationFault) as caught:
        parse_document(candidate)
    return caught.value.faults


def test_example_is_read_and_written_back_unchanged() -> None:
    # S3-029 S3-030 S3-031 S3-032 S3-033 S3-034 S3-035 S3-036 S3-037
    example = yaml.safe_load(EXAMPLE)
    settings = parse_document(example)
    assert settings == ServiceSettings(
        service_name="memgraph-server",
        service_port=3000,
        service_host="0.0.0.0",  # noqa: S104 - the example listens everywhere, with keys on
        security_api_keys_enabled=True,
        dependencies={"memgraph": {"host": "localhost", "port": 7687}},
    )
    assert to_document(settings) == example
    assert yaml.safe_dump(to_document(settings), sort_keys=False) == EXAMPLE


def test_optional_sections_have_defaults() -> None:
    # S3-032 S3-033 S3-034 S3-035 S3-036 C19
    settings = parse_document(document())
    assert settings == ServiceSettings(service_name="todo", service_port=3000)
    assert settings.service_host == "127.0.0.1"
    assert not settings.reachable_from_network


@pytest.mark.parametrize("missing", ["name", "port", "host"])
def test_service_section_must_be_complete(missing: str) -> None:
    # S3-029 S3-030 S3-031
    candidate = document()
    del candidate["service"][missing]
    assert faults_of(candidate) == [f"service.{missing} is missing"]


@pytest.mark.parametrize(
    ("section", "key", "bad", "good"),
    [
        ("service", "port", 1023, 1024),
        ("service", "port", 65536, 65535),
        ("service", "port", True, 8000),
        ("service", "port", 8000.0, 8000),
        ("service", "port", "８０００", "8000"),
        ("monitoring", "health_check_interval", 9, 10),
        ("security", "rate_limit", 9, 10),
        ("security", "rate_limit", 2**31, 2**31 - 1),
        ("security", "api_keys_enabled", "maybe", "yes"),
        ("security", "api_keys_enabled", 2, False),
        ("monitoring", "metrics_enabled", None, "off"),
        ("server", "timeout", 301, 300),
        ("server", "workers", 0, 1),
        ("logging", "level", "LOUD", "debug"),
        ("service", "host", "two words", "::1"),
        ("service", "host", "", "0.0.0.0"),  # noqa: S104
        ("cors", "allowed_origins", ["*"], ["https://app.example/"]),
        ("cors", "allowed_origins", 5, "https://a.example, http://b.example"),
    ],
)
def test_each_key_has_its_limits(section: str, key: str, bad: Any, good: Any) -> None:
    # S3-030 S3-032 S3-033 S3-034 S3-035
    candidate = document()
    candidate.setdefault(section, {})[key] = bad
    (fault,) = faults_of(candidate)
    assert fault.startswith(f"{section}.{key} ")
    assert fault.endswith(f"got {bad!r}")
    candidate[section][key] = good
    parse_document(candidate)


@pytest.mark.parametrize(
    "name", ["", "Todo", "1todo", "-todo", "to do", "todo\n", "tôdo", "t" * 65, 5]
)
def test_service_name_outside_the_pattern_is_refused(name: Any) -> None:
    # S3-029 C13
    candidate = document()
    candidate["service"]["name"] = name
    (fault,) = faults_of(candidate)
    assert fault.startswith("service.name must start with a lower-case letter")


def test_every_fault_is_reported_with_its_key_path() -> None:
    # F3-12
    candidate = {
        "service": {"name": "X", "port": 80},
        "security": {"rate_limt": 10},
        "monitoring": [],
        "extra": {},
        "dependencies": [],
    }
    told = "\n".join(faults_of(candidate))
    for path in (
        "service.name must",
        "service.port must",
        "service.host is missing",
        "security.rate_limt is not a setting; known: api_keys_enabled, rate_limit",
        "monitoring must be a mapping",
        "extra is not a section",
        "dependencies must be a mapping",
    ):
        assert path in told


@pytest.mark.parametrize("candidate", [None, [], "service", 5])
def test_document_that_is_no_mapping_is_refused(candidate: Any) -> None:
    assert faults_of(candidate) == ["the document must be a mapping with a service section"]


def test_dependencies_that_json_cannot_hold_are_refused_by_path() -> None:
    # S3-036
    dependencies: dict[Any, Any] = {
        "memgraph": {"since": datetime.date(2026, 1, 1), "weights": [1, float("inf")]},
        "note": "a\0b",
        7: "seven",
        "half": "\ud800",
    }
    told = faults_of(document(dependencies=dependencies))
    assert told == [
        "dependencies.memgraph.since must be text, a number, true or false; got date",
        "dependencies.memgraph.weights[1] must be a finite number",
        "dependencies.note has a character that cannot be stored",
        "dependencies has the key 7, which is not plain text",
        "dependencies.half has a character that cannot be stored",
    ]


def test_value_that_contains_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    (fault,) = value_faults(endless, "dependencies")
    assert fault.endswith("is nested too deeply")


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)
services = st.builds(
    ServiceSettings,
    service_name=st.from_regex(r"[a-z][a-z0-9-]{0,63}", fullmatch=True),
    service_port=st.integers(1024, 65535),
    service_host=st.sampled_from(["127.0.0.1", "0.0.0.0", "::", "svc.internal"]),  # noqa: S104
    server_workers=st.integers(1, 64),
    server_timeout=st.integers(1, 300),
    server_graceful_shutdown_seconds=st.integers(1, 60),
    monitoring_metrics_enabled=st.booleans(),
    monitoring_health_check_interval=st.integers(10, 2**31 - 1),
    monitoring_dependency_timeout_ms=st.integers(10, 60_000),
    security_api_keys_enabled=st.booleans(),
    security_rate_limit=st.integers(10, 2**31 - 1),
    cors_enabled=st.booleans(),
    cors_allowed_origins=st.lists(
        st.sampled_from(["https://a.example", "http://b.example:81"])
    ).map(tuple),
    mcp_max_connections=st.integers(1, 100_000),
    logging_level=st.sampled_from(["DEBUG", "INFO", "WARNING", "ERROR"]),
    dependencies=st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), plain, max_size=3),
)


@example(settings=ServiceSettings(dependencies={"a": "next\x85line", "b": "\u2028"}))
@given(settings=services)
def test_any_configuration_survives_the_way_through_yaml(settings: ServiceSettings) -> None:
    # S3-036 S3-037
    text = to_yaml(to_document(settings))
    assert parse_document(yaml.safe_load(text)) == settings


def test_overrides_win_over_the_document() -> None:
    # F3-12
    settings = parse_document(document(dependencies={"memgraph": {"port": 7687}}))
    overridden = with_overrides(
        settings,
        {
            "SERVICE__PORT": "9000",
            "SECURITY__API_KEYS_ENABLED": "on",
            "CORS__ALLOWED_ORIGINS": "https://a.example,https://b.example",
        },
    )
    assert overridden == ServiceSettings(
        service_name="todo",
        service_port=9000,
        security_api_keys_enabled=True,
        cors_allowed_origins=("https://a.example", "https://b.example"),
        dependencies={"memgraph": {"port": 7687}},
    )


def test_each_wrong_override_is_named() -> None:
    # F3-12
    with pytest.raises(ConfigurationFault) as caught:
        with_overrides(ServiceSettings(), {"SERVICE__PORT": "80", "SERVICE__COLOUR": "red"})
    assert caught.value.faults == [
        "SERVICE__PORT must be a whole number from 1024 to 65535; got '80'",
        "SERVICE__COLOUR overrides no known setting",
    ]


@pytest.mark.parametrize(
    ("host", "reachable"),
    [
        ("127.0.0.1", False),
        ("localhost", False),
        ("::1", False),
        ("0.0.0.0", True),  # noqa: S104
        ("10.0.0.7", True),
    ],
)
def test_only_loopback_addresses_stay_on_this_machine(host: str, reachable: bool) -> None:
    # C19
    assert ServiceSettings(service_host=host).reachable_from_network is reachable


def test_every_key_of_the_document_is_a_field_of_the_settings() -> None:
    assert {key.attribute for key in KEYS} | {"dependencies"} == set(ServiceSettings.__slots__)
