"""What the audit trail writes down, whichever way a row changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from health.models import HealthWebhook
from tests.factories import make_client, make_corpus, make_document, make_tool, make_toolset
from tests.trail import became, latest, trail_of
from tests.upstream_rows import definition, make_upstream, offers
from tools.guards.keys import hash_key
from tools.models import ApiService, AuditEntry, Document, Tool, UpstreamItem
from tools.services.approve_upstream import approve, reject
from tools.services.audit.acting import Actor, ActorKind, acting, process_actor, unrecorded
from tools.services.audit.values import LONGEST_VALUE
from tools.services.documents import add_document, remove_document
from tools.services.issue_key import replace_key
from tools.services.sync_upstream import record_discovery

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_a_row_leaves_an_entry_when_it_comes_changes_and_goes() -> None:
    tool = make_tool(name="echo", timeout_seconds=12)
    tool.timeout_seconds = 20
    tool.save()
    number = tool.pk
    tool.delete()
    entries = list(AuditEntry.objects.filter(kind="tools.tool", object_id=number).order_by("pk"))
    assert [one.action for one in entries] == ["added", "changed", "deleted"]
    assert [became(one, "timeout_seconds") for one in entries] == [("-", 12), (12, 20), (20, "-")]
    assert [one.object_name for one in entries] == ["echo"] * 3
    assert list(entries[1].changes) == ["timeout_seconds"]
    assert "handler" in entries[0].changes
    assert "keep_body" not in entries[0].changes


def test_saving_without_a_change_leaves_no_entry() -> None:
    tool = make_tool(input_schema={"type": "object", "properties": {"a": {"type": "string"}}})
    count = AuditEntry.objects.count()
    tool.save()
    Tool.objects.filter(pk=tool.pk).update(enabled=True)
    Tool.objects.bulk_update([tool], ["title"])
    assert AuditEntry.objects.count() == count


def test_rows_that_change_in_bulk_leave_an_entry_each() -> None:
    on, off = make_tool(name="on"), make_tool(name="off", enabled=False)
    count = AuditEntry.objects.count()
    Tool.objects.filter(pk__in=[on.pk, off.pk]).update(enabled=False)
    assert AuditEntry.objects.count() == count + 1
    assert became(trail_of(on)[-1], "enabled") == (True, False)
    made = Tool.objects.bulk_create([Tool(**_values("three")), Tool(**_values("four"))])
    assert [trail_of(one)[0].action for one in made] == ["added", "added"]
    Tool.objects.filter(name="three").delete()
    assert trail_of(made[0])[-1].action == "deleted"


def test_a_change_that_is_rolled_back_leaves_no_entry() -> None:
    tool = make_tool()
    count = AuditEntry.objects.count()

    def fail() -> None:
        with transaction.atomic():
            tool.title = "Another"
            tool.save()
            assert AuditEntry.objects.count() == count + 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert AuditEntry.objects.count() == count


def test_members_of_a_list_are_named_from_either_side() -> None:
    tool, other = make_tool(name="one"), make_tool(name="two")
    toolset = make_toolset(slug="some", tools=[tool])
    tool.toolsets.clear()
    other.toolsets.add(toolset)
    toolset.tools.set([tool])
    toolset.tools.set([tool])
    told = [one.changes for one in trail_of(toolset) if one.action == "changed"]
    assert told == [
        {"tools": {"added": ["one"]}},
        {"tools": {"removed": ["one"]}},
        {"tools": {"added": ["two"]}},
        {"tools": {"removed": ["two"]}},
        {"tools": {"added": ["one"]}},
    ]


def test_secrets_are_masked_and_never_written() -> None:
    client, key = make_client(name="agent")
    issued = replace_key(client, old_for=timedelta(days=1))
    service = ApiService(slug="shop", base_url="https://shop.example/v1")
    service.headers = {"X-Api-Key": "hunter2hunter2"}
    service.set_secret("hunter2hunter2")
    service.save()
    server = make_upstream(slug="todo", transport="sse", command="", url="https://mcp.example/sse")
    server.set_headers({"Authorization": "Bearer hunter2hunter2"})
    server.save()
    user = User.objects.create_user("alice", password="hunter2hunter2")
    user.set_password("another-hunter2")
    user.save()
    webhook = HealthWebhook(name="chat", url="https://chat.example/hooks/hunter2hunter2")
    webhook.set_secret("whsec_" + "aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVyMg==")
    webhook.save()
    written = [f"{one.changes} {one.note} {one.object_name}" for one in AuditEntry.objects.all()]
    digests = (hash_key(key), hash_key(issued.key))
    forbidden = ("hunter2", key, issued.key, *digests, service.secret, user.password)
    assert not [one for one in written if any(secret in one for secret in forbidden)]
    assert trail_of(client)[-1].action == "replaced"
    assert trail_of(client)[-1].changes["key_hash"] == {"masked": True}
    assert trail_of(client)[-1].changes["previous_key_hash"] == {"masked": True}
    assert trail_of(server)[-1].changes == {"headers": {"masked": True}}
    assert trail_of(user)[-1].changes == {"password": {"masked": True}}
    assert became(trail_of(webhook)[-1], "url") == ("-", "https://chat.example/…")


def test_what_becomes_of_a_key_has_a_name_of_its_own() -> None:
    client, _ = make_client(name="agent")
    client.enabled = False
    client.save()
    client.enabled = True
    client.save()
    client.delete()
    told = AuditEntry.objects.filter(object_name="agent").order_by("pk")
    assert [one.action for one in told] == ["issued", "revoked", "changed", "deleted"]


def test_what_machines_note_leaves_no_entries() -> None:
    client, _ = make_client()
    server = make_upstream(slug="todo")
    user = User.objects.create_user("alice")
    every = IntervalSchedule.objects.create(every=5, period="seconds")
    task = PeriodicTask.objects.create(name="look", task="tools.tasks.look", interval=every)
    count = AuditEntry.objects.count()
    client.save()
    user.save(update_fields=["last_login"])
    task.total_run_count += 1
    task.save()
    server.last_discovery = {"ok": True}
    server.save()
    assert AuditEntry.objects.count() == count


def test_long_and_strange_values_are_kept_in_part_and_say_so() -> None:
    tool = make_tool(description="Früher war es kurz. 🦦")
    tool.description = "ä🦦\u200b" * 5_000
    tool.save()
    entry = trail_of(tool)[-1]
    assert became(entry, "description")[1] == tool.description
    assert "cut" not in entry.changes["description"]
    tool.description = "long " * 10_000
    tool.save()
    entry = trail_of(tool)[-1]
    assert entry.changes["description"]["cut"] is True
    assert len(became(entry, "description")[1]) == LONGEST_VALUE
    newest = tool.versions.first()
    assert newest is not None
    assert newest.definition["description"] == tool.description


def test_what_a_server_says_and_what_is_decided_is_written_down() -> None:
    make_upstream(slug="todo")
    record_discovery("todo", offers("one", "two"))
    added = AuditEntry.objects.filter(kind="tools.tool")
    assert {(one.object_name, one.note) for one in added} == {
        ("one", "The server was asked what it offers."),
        ("two", "The server was asked what it offers."),
    }
    changed = [definition(name, description="Says another thing.") for name in ("one", "two")]
    record_discovery("todo", offers(*changed))
    count = AuditEntry.objects.count()
    record_discovery("todo", offers(*changed), noted=True)
    assert AuditEntry.objects.count() == count
    first, second = UpstreamItem.objects.order_by("remote_name")
    assert became(trail_of(first)[-1], "state") == ("approved", "changed")
    approve(first.pk, "alice")
    reject(second.pk, "alice")
    assert trail_of(first)[-1].action == "approved"
    assert trail_of(second)[-1].action == "refused"
    assert became(trail_of(first.tool)[-1], "description")[1] == "Says another thing."


def test_documents_are_named_with_their_corpus() -> None:
    corpus = make_corpus(slug="papers")
    for content in (b"One text.", b"One text.", b"Another text."):
        document = add_document(corpus, "a.txt", content).document
    assert [one.action for one in trail_of(document)] == ["added", "changed"]
    document = Document.objects.get(pk=document.pk)
    remove_document(document)
    assert (latest().action, latest().object_name) == ("deleted", "papers: a.txt")
    make_document(corpus)
    corpus.delete()
    assert (latest().action, latest().kind) == ("deleted", "tools.corpus")


def test_an_entry_says_who_acted_and_what_comes_with_a_release_leaves_none() -> None:
    actor = Actor(ActorKind.PERSON, "alice", "203.0.113.7", "/admin/")
    with acting(lambda: actor):
        Group.objects.create(name="Readers")
    entry = latest()
    assert (entry.actor, entry.address, entry.through) == ("alice", "203.0.113.7", "/admin/")
    with unrecorded():
        Group.objects.create(name="Writers")
    assert latest() == entry


@pytest.mark.parametrize(
    ("arguments", "kind", "through"),
    [
        (
            ["/somewhere/manage.py", "apply_config", "x"],
            ActorKind.COMMAND,
            "manage.py apply_config",
        ),
        (["manage.py", "serve"], ActorKind.SERVICE, "manage.py serve"),
        (["/bin/celery", "-A", "x"], ActorKind.WORKER, "celery"),
        (["/lib/celery/__main__.py", "-A", "x"], ActorKind.WORKER, "celery"),
        ([], ActorKind.COMMAND, "python"),
    ],
)
def test_a_process_is_told_by_how_it_was_started(
    arguments: list[str], kind: ActorKind, through: str
) -> None:
    actor = process_actor(arguments)
    assert (actor.kind, actor.through) == (kind, through)
    assert bool(actor.name) is (kind is ActorKind.COMMAND)


def test_entries_are_neither_changed_nor_deleted() -> None:
    make_tool()
    entry = latest()
    entry.actor = "somebody else"
    with pytest.raises(TypeError):
        entry.save()
    with pytest.raises(TypeError):
        entry.delete()


def _values(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Answers with its arguments.",
        "input_schema": {"type": "object", "properties": {}},
        "source": "http_api",
        "handler": "echo",
    }


def test_rows_of_which_nobody_would_know_whether_they_are_new_are_not_made() -> None:
    with pytest.raises(TypeError, match="audit trail"):
        Tool.objects.bulk_create([Tool(name="echo")], ignore_conflicts=True)
