"""Who acts when it is not a person in the admin: API clients, documents of configuration, tasks."""

from __future__ import annotations

import pytest

from controlplane.celery import app
from tests.doors import RestDoor
from tests.factories import make_client, make_service
from tests.tools.test_conf import EXAMPLE
from tests.trail import became, latest, trail_of
from tools.models import AuditEntry, Corpus, ServiceConfiguration
from tools.services.apply_config import apply_config, read_document
from tools.services.audit.acting import Actor, ActorKind, acting, current_actor
from tools.tasks import prepare_journal


def test_an_api_client_is_named_with_its_address(door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    _, key = make_client(name="ingest robot", manages_corpora=True)
    headers = {"X-API-Key": key}
    door.client.post("/api/corpora", json={"slug": "papers"}, headers=headers)
    files = [("files", ("otters.md", b"# Otters\n\nThey hold hands while they sleep.\n"))]
    door.client.post("/api/corpora/papers/documents", files=files, headers=headers)
    door.client.patch("/api/corpora/papers", json={"title": "Papers"}, headers=headers)
    corpus = Corpus.objects.get()
    kinds = AuditEntry.objects.filter(actor_kind="client").order_by("pk")
    assert [(one.action, one.object_name) for one in kinds] == [
        ("added", "papers"),
        ("added", "papers: otters.md"),
        ("changed", "papers"),
    ]
    entry = trail_of(corpus)[-1]
    assert (entry.actor, entry.address) == ("ingest robot", "127.0.0.1")
    assert entry.through == "PATCH /api/corpora/papers"
    assert became(entry, "title") == ("", "Papers")


@pytest.mark.django_db
def test_a_document_of_configuration_says_what_it_changed() -> None:
    document = read_document(EXAMPLE)
    apply_config(document, dry_run=True)
    assert not AuditEntry.objects.exists()
    apply_config(document)
    apply_config(document)
    apply_config(read_document(EXAMPLE.replace("port: 3000", "port: 3001")))
    first, second = trail_of(ServiceConfiguration.objects.get())
    assert (first.action, second.action, second.actor_kind) == ("added", "changed", "command")
    assert became(second, "service_port") == (3000, 3001)
    assert latest().note == "A configuration document was applied."


@pytest.mark.django_db
def test_a_task_is_named_by_the_worker_that_runs_it() -> None:
    with acting(lambda: Actor(ActorKind.SERVICE)):
        app.tasks[prepare_journal.name].apply().get()
        assert current_actor() == Actor(ActorKind.WORKER, through="tools.tasks.prepare_journal")
