"""Service configuration documents into and out of the database."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import make_service
from tests.tools.test_conf import EXAMPLE
from tools.conf import ConfigurationFault
from tools.models import ServiceConfiguration
from tools.services.apply_config import (
    ApplyResult,
    apply_config,
    export_config,
    read_document,
    to_yaml,
)

pytestmark = pytest.mark.django_db


def test_example_is_applied_and_exported_as_it_was_written() -> None:
    # S3-037 S3-036 S3-071 F3-12
    result = apply_config(read_document(EXAMPLE))
    assert result.created
    assert result.name == "memgraph-server"
    row = ServiceConfiguration.objects.get()
    assert (row.service_port, row.security_api_keys_enabled) == (3000, True)
    assert row.dependencies == {"memgraph": {"host": "localhost", "port": 7687}}
    assert to_yaml(export_config("memgraph-server")) == EXAMPLE


def test_applying_again_changes_nothing_and_writes_nothing() -> None:
    # S3-037
    apply_config(read_document(EXAMPLE))
    with CaptureQueriesContext(connection) as queries:
        again = apply_config(read_document(EXAMPLE))
    assert again == ApplyResult(name="memgraph-server", created=False, changed=[])
    assert not [entry for entry in queries.captured_queries if entry["sql"].startswith("UPDATE")]


def test_only_what_differs_is_reported_as_changed() -> None:
    apply_config(read_document(EXAMPLE))
    document = yaml.safe_load(EXAMPLE)
    document["security"]["rate_limit"] = 500
    document["dependencies"]["memgraph"]["tls"] = True
    assert apply_config(document).changed == ["security.rate_limit", "dependencies"]
    document["dependencies"]["memgraph"]["tls"] = 1
    assert apply_config(document).changed == ["dependencies"]
    assert export_config("memgraph-server") == document


def test_key_left_out_goes_back_to_its_default() -> None:
    apply_config(read_document(EXAMPLE))
    document = yaml.safe_load(EXAMPLE)
    del document["dependencies"], document["security"]["rate_limit"]
    document["security"]["rate_limit"] = 77
    apply_config(document)
    del document["security"]["rate_limit"]
    assert apply_config(document).changed == ["security.rate_limit"]
    row = ServiceConfiguration.objects.get()
    assert (row.security_rate_limit, row.dependencies) == (1000, {})


def test_dry_run_reports_and_saves_nothing() -> None:
    make_service(service_name="memgraph-server", service_port=4000)
    result = apply_config(read_document(EXAMPLE), dry_run=True)
    assert not result.created
    assert "service.port" in result.changed
    assert ServiceConfiguration.objects.get().service_port == 4000
    assert apply_config(
        {"service": {"name": "new", "port": 3000, "host": "::1"}}, dry_run=True
    ).created
    assert ServiceConfiguration.objects.count() == 1


@pytest.mark.parametrize(
    ("section", "key", "value", "told"),
    [
        ("service", "port", 80, "service.port must be a whole number from 1024 to 65535; got 80"),
        ("security", "api_keys_enabled", False, "service.host: Listening beyond this machine"),
    ],
)
def test_wrong_document_is_refused_by_key_path_and_changes_nothing(
    section: str, key: str, value: Any, told: str
) -> None:
    # F3-12 C19
    apply_config(read_document(EXAMPLE))
    document = yaml.safe_load(EXAMPLE)
    document["monitoring"]["health_check_interval"] = 99
    document[section][key] = value
    with pytest.raises(ConfigurationFault) as caught:
        apply_config(document)
    assert [fault for fault in caught.value.faults if fault.startswith(told)]
    assert to_yaml(export_config()) == EXAMPLE


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("service:\n  name: [a\n", "line 3, column 1: "),
        ("service:\n\tname: a\n", "line 2, column 1: "),
        ("service:\n  name: a\n  name: b\n", "line 3, column 3: the key 'name' is written twice"),
        ("a: !!python/object/apply:os.system [id]\n", "line 1, column 4: "),
        ("a: &x\n  b: 1\nc: *y\n", "line 3, column 4: "),
        ("a: &x\n  b: 1\nc:\n  <<: *x\n", "line 4, column 3: write it out without merges (<<)"),
        ("a: \x01\n", "not a YAML document: "),
        ("a: 2026-99-99\n", "not a YAML document: "),
    ],
)
def test_file_that_is_not_yaml_is_refused_by_line_and_column(text: str, told: str) -> None:
    # F3-12
    with pytest.raises(ConfigurationFault) as caught:
        read_document(text)
    (fault,) = caught.value.faults
    assert fault.startswith(told)


def test_document_that_contains_itself_is_refused() -> None:
    document = read_document(EXAMPLE.split("dependencies")[0] + "dependencies: &d\n  again: *d\n")
    with pytest.raises(ConfigurationFault, match="nested too deeply"):
        apply_config(document)


def test_export_without_a_name_is_that_of_the_service_served_here() -> None:
    make_service(service_name="todo")
    assert export_config()["service"]["name"] == "todo"
    make_service(service_name="mcp-control-plane")
    assert export_config()["service"]["name"] == "mcp-control-plane"


def test_export_of_an_unknown_service_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationFault, match="configured: none"):
        export_config()
    make_service(service_name="todo")
    with pytest.raises(ConfigurationFault, match="no service 'x'; configured: todo"):
        export_config("x")
