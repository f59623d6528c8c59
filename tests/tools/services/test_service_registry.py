"""The registry of services as rows and as services.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError
from django.db.models.signals import pre_save

from tools.conf import ConfigurationFault
from tools.models import RegisteredService
from tools.services.apply_config import to_yaml
from tools.services.service_registry import (
    export_registry,
    import_registry,
    read_registry,
    registered,
)
from tools.wrappers.registry import ServiceEntry

pytestmark = pytest.mark.django_db

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "services.yaml"


def test_the_example_registry_is_that_of_the_seed() -> None:
    # S3-067
    assert read_registry(EXAMPLE.read_text()) == [
        ServiceEntry("ai-gateway", "http://localhost:8000", enabled=True),
        ServiceEntry("code-graph-rag", "http://localhost:8001", enabled=True),
        ServiceEntry("seekr", "http://localhost:8002", enabled=True),
        ServiceEntry("docwell", "http://localhost:8003", enabled=False),
    ]


def test_a_registry_goes_out_as_it_came_in() -> None:
    # S3-066
    done = import_registry(EXAMPLE.read_text())
    assert done.added == ("ai-gateway", "code-graph-rag", "seekr", "docwell")
    out = to_yaml(export_registry())
    assert sorted(read_registry(out), key=lambda one: one.name) == registered()
    again = import_registry(out)
    assert (again.added, again.changed, len(again.same)) == ((), (), 4)
    changed = import_registry("- {name: seekr, url: 'http://x', key_variable: MY_API_KEY}")
    assert changed.changed == ("seekr",)
    assert {"name": "seekr", "url": "http://x", "enabled": True, "key_variable": "MY_API_KEY"} in (
        export_registry()["services"]
    )
    assert RegisteredService.objects.count() == 4


def test_an_import_tells_what_changes_and_leaves_what_it_does_not_name() -> None:
    # S3-066
    RegisteredService(name="seekr", url="http://x", enabled=False, key_variable="MY_API_KEY").save()
    assert import_registry("- {name: seekr, url: 'http://x'}").same == ("seekr",)
    text = "- {name: seekr, url: 'http://y'}\n- {name: new, url: 'http://n', enabled: false}"
    for dry_run in (True, False):
        assert import_registry(text, dry_run=dry_run).told == {
            "seekr": "url http://x -> http://y",
            "new": "url http://n, enabled off, key_variable NEW_API_KEY",
        }
    row = RegisteredService.objects.get(name="seekr")
    assert (row.url, row.enabled, row.key_variable) == ("http://y", False, "MY_API_KEY")
    text = "- {name: seekr, url: 'http://y', enabled: true, key_variable: ''}"
    told = import_registry(text).told["seekr"]
    assert told == "enabled off -> on, key_variable MY_API_KEY -> SEEKR_API_KEY"


def test_a_dry_run_saves_nothing() -> None:
    assert import_registry(EXAMPLE.read_text(), dry_run=True).added
    assert not RegisteredService.objects.exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("services: 3", "must have a list of services"),
        ("", "must have a list of services"),
        ("servces: []", "the only section of the file is services"),
        ("- seekr", "entry 1 is not a service"),
        ("- {url: 'http://x'}", "entry 1: name: This field cannot be blank."),
        ("- {name: seekr}", "seekr: url: "),
        ("- {name: Seekr, url: 'http://x'}", "Seekr: name: Use lower-case letters"),
        ("- {name: 1x, url: 'http://x'}", "name: Use lower-case letters"),
        ("- {name: ../x, url: 'http://x'}", "name: Use lower-case letters"),
        ("- {name: seekr, url: 'ftp://x'}", "seekr: url: Must start with"),
        ("- {name: seekr, url: 'http://x/?a=1'}", "seekr: url: Must not have a query"),
        ("- {name: seekr, url: 'http://x/é'}", "seekr: url: Write quotes, braces"),
        ("- {name: seekr, url: 'http://x/{a,b}'}", "seekr: url: Write quotes, braces"),
        ("- {name: seekr, url: 'http://x/\"'}", "seekr: url: Write quotes, braces"),
        ("- {name: seekr, url: 'http://x', enabled: 'yes'}", "enabled must be true or false"),
        ("- {name: seekr, url: 8002}", "seekr: url must be a text"),
        ("- {name: seekr, url: 'http://x', port: 1}", "'port' is not known"),
        ("- {name: seekr, url: 'http://x', key_variable: SECRET_KEY}", "ends with _API_KEY"),
        ("- &a {name: a, url: 'http://x'}\n- *a", "a is in the file more than once"),
        ("- [", "line 2, column 1"),
    ],
)
def test_a_bad_file_changes_nothing_and_says_why(text: str, told: str) -> None:
    # S3-066
    with pytest.raises(ConfigurationFault) as refused:
        import_registry(f"{text}\n")
    assert told in "\n".join(refused.value.faults)
    assert not RegisteredService.objects.exists()


def test_all_faults_are_told_at_once_and_good_entries_wait() -> None:
    with pytest.raises(ConfigurationFault) as refused:
        import_registry("- {name: A, url: x}\n- {name: good, url: 'http://x'}\n- {name: b, url: y}")
    assert len(refused.value.faults) == 3
    assert not RegisteredService.objects.exists()


def test_a_name_that_is_taken_while_a_file_is_saved_is_told() -> None:
    def take(sender: Any, instance: RegisteredService, **_: Any) -> None:
        RegisteredService.objects.bulk_create([RegisteredService(name="b", url="http://theirs")])

    pre_save.connect(take, sender=RegisteredService)
    try:
        with pytest.raises(ConfigurationFault, match="Somebody else has just saved one of these"):
            import_registry("- {name: a, url: 'http://x'}\n- {name: b, url: 'http://y'}")
    finally:
        pre_save.disconnect(take, sender=RegisteredService)
    assert not RegisteredService.objects.exists()


def test_the_database_refuses_what_the_model_does() -> None:
    with pytest.raises(IntegrityError):
        RegisteredService.objects.bulk_create([RegisteredService(name="A b", url="http://x")])


def test_variables_are_named_after_the_service() -> None:
    assert ServiceEntry("code-graph-rag", "http://x/").key_name == "CODE_GRAPH_RAG_API_KEY"
    assert ServiceEntry("s3", "http://x/", key_variable="CONTROL_PLANE_KEY").key_name == (
        "CONTROL_PLANE_KEY"
    )
    assert ServiceEntry("s3", "http://x/api//").base_url == "http://x/api"
