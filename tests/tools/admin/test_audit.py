"""The audit trail in the admin: what people did there, and how it is read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from tests.factories import make_client, make_tool, make_toolset
from tests.failing_services import fail
from tests.tools.admin.pages import act, address, submit, text
from tests.trail import became, latest, trail_of
from tools.guards.breaker import CircuitBreakerConfig
from tools.models import ApiClient, AuditEntry, Document, Tool, Toolset
from tools.models.audit import Action
from tools.services.audit.recording import record_action
from tools.services.audit.watched import registry

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

LIST = "/admin/tools/auditentry/"


def shown(client: Client, **query: str) -> list[AuditEntry]:
    """What the list shows."""
    page = client.get(LIST, query)
    assert page.status_code == 200
    found: list[AuditEntry] = list(page.context["cl"].result_list)
    return found


def detail(client: Client, entry: AuditEntry) -> str:
    return text(client.get(address(AuditEntry, "change", entry.pk)))


def test_a_form_leaves_an_entry_with_the_person_and_where_they_were(admin_client: Client) -> None:
    tool = make_tool(name="echo", timeout_seconds=12)
    submit(admin_client, address(Tool, "change", tool.pk), timeout_seconds="20")
    entry = trail_of(tool)[-1]
    assert (entry.actor_kind, entry.actor, entry.address) == ("person", "admin", "127.0.0.1")
    assert entry.through == f"/admin/tools/tool/{tool.pk}/change/"
    assert became(entry, "timeout_seconds") == (12, 20)
    count = AuditEntry.objects.count()
    submit(admin_client, address(Tool, "change", tool.pk))
    assert AuditEntry.objects.count() == count
    page = detail(admin_client, entry)
    assert "timeout seconds" in page
    assert "Before" in page
    assert ">20</ins>" in page


def test_a_form_that_is_refused_leaves_no_entry(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    submit(admin_client, address(Tool, "change", tool.pk), timeout_seconds="9999")
    assert len(trail_of(tool)) == 1


def test_bulk_actions_leave_an_entry_for_each_row(admin_client: Client) -> None:
    tools = [make_tool(), make_tool(), make_tool(enabled=False)]
    act(admin_client, Tool, "disable", *tools)
    assert [became(trail_of(one)[-1], "enabled") for one in tools[:2]] == [(True, False)] * 2
    assert len(trail_of(tools[2])) == 1
    clients = [make_client()[0], make_client()[0]]
    act(admin_client, ApiClient, "disable", *clients)
    assert {trail_of(one)[-1].action for one in clients} == {"revoked"}
    act(admin_client, ApiClient, "replace_keys", clients[0])
    assert trail_of(clients[0])[-1].action == "replaced"
    every = IntervalSchedule.objects.create(every=5, period="seconds")
    task = PeriodicTask.objects.create(name="look", task="tools.tasks.look", interval=every)
    act(admin_client, PeriodicTask, "disable", task)
    assert became(trail_of(task)[-1], "enabled") == (True, False)
    act(admin_client, Tool, "delete_selected", *tools)
    assert [trail_of(one)[-1].action for one in tools] == ["deleted"] * 3
    assert {trail_of(one)[-1].actor for one in [*tools, *clients, task]} == {"admin"}


def test_people_groups_and_lists_are_written_down(admin_client: Client) -> None:
    toolset, tool = make_toolset(slug="some"), make_tool(name="echo")
    submit(admin_client, address(Toolset, "change", toolset.pk), tools=[tool.pk])
    assert latest().changes == {"tools": {"added": ["echo"]}}
    page = detail(admin_client, latest())
    assert "Put in:" in page
    person = User.objects.create_user("alice")
    group = Group.objects.create(name="Readers")
    person.groups.add(group)
    assert trail_of(person)[-1].changes == {"groups": {"added": ["Readers"]}}
    group.permissions.add(Permission.objects.get(codename="view_tool"))
    assert "Can view tool" in str(trail_of(group)[-1].changes)


def test_whatever_people_may_change_in_the_admin_is_watched(
    admin_user: User, rf: RequestFactory
) -> None:
    request = rf.get("/admin/")
    request.user = admin_user
    changeable = {
        model
        for model, page in admin.site._registry.items()
        if page.has_add_permission(request)
        or page.has_change_permission(request)
        or page.has_delete_permission(request)
    }
    # These two write their entries themselves.
    assert changeable - set(registry) == {Document, AccessAttempt}


def test_resets_and_emptied_caches_are_actions(admin_client: Client, redis_url: str) -> None:
    make_tool(name="echo")
    fail(redis_url, "shop", 1, CircuitBreakerConfig())
    admin_client.post(reverse("admin:tools_upstreamserver_breakers"), {"breaker": "shop"})
    assert (latest().action, latest().kind, latest().object_name) == ("reset", "breaker", "shop")
    admin_client.post(reverse("admin:tools_upstreamserver_breakers"), {"breaker": "nobody"})
    assert latest().object_name == "shop"
    admin_client.post(reverse("admin:tools_tool_cache"), {"tool": "echo"})
    assert (latest().action, latest().object_name) == ("purged", "echo")
    assert latest().note == "Results forgotten: 0."
    assert "This is no change of fields." in detail(admin_client, latest())


def test_whoever_lets_somebody_in_again_is_known(admin_client: Client) -> None:
    rows = [
        AccessAttempt.objects.create(
            username=name,
            ip_address="203.0.113.7",
            failures_since_start=5,
            attempt_time=timezone.now(),
        )
        for name in ("alice", "bob")
    ]
    admin_client.post(address(AccessAttempt, "delete", rows[0].pk), {"post": "yes"})
    assert (latest().action, latest().object_name, latest().actor) == ("unlocked", "alice", "admin")
    act(admin_client, AccessAttempt, "delete_selected", rows[1])
    assert latest().object_name == "bob"
    assert not AccessAttempt.objects.exists()


def test_the_list_is_filtered_by_who_what_action_time_and_text(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    submit(admin_client, address(Tool, "change", tool.pk), title="Echo, echo")
    make_toolset(slug="some")
    assert [one.pk for one in shown(admin_client)] == sorted(
        AuditEntry.objects.values_list("pk", flat=True), reverse=True
    )
    assert {one.actor for one in shown(admin_client, who="person:admin")} == {"admin"}
    assert {one.actor_kind for one in shown(admin_client, who="command:")} == {"command"}
    assert {one.kind for one in shown(admin_client, kind="tools.toolset")} == {"tools.toolset"}
    assert {one.action for one in shown(admin_client, action="changed")} == {"changed"}
    assert [one.fields for one in shown(admin_client, q="title")] == ["title"]
    old = str(timezone.now() - timedelta(days=1))
    assert shown(admin_client, at__lt=old) == []
    for odd in ("x", "'\"", "9" * 300, "\u2028", "person:\0", ":"):
        for name in ("who", "kind", "object", "action", "q"):
            shown(admin_client, **{name: odd})


def test_history_of_an_object_is_its_part_of_the_trail(admin_client: Client) -> None:
    tool, _ = make_tool(name="echo"), make_tool(name="other")
    there = admin_client.get(reverse("admin:tools_tool_history", args=[tool.pk]))
    assert there.headers["Location"] == f"{LIST}?kind=tools.tool&object={tool.pk}"
    page = admin_client.get(there.headers["Location"])
    assert [one.object_name for one in page.context["cl"].result_list] == ["echo"]
    own = admin_client.get(reverse("admin:tools_auditentry_history", args=[latest().pk]))
    assert own.headers["Location"] == LIST
    for path in ("/admin/tools/nothing/1/history/", "/admin/tools/catalogstate/1/history/"):
        assert admin_client.get(path).status_code == 404


def test_entries_are_readable_when_person_and_object_are_gone(client: Client) -> None:
    alice = User.objects.create_superuser("alice")
    client.force_login(alice)
    tool = make_tool(name="echo")
    submit(client, address(Tool, "change", tool.pk), title="Echo, echo")
    entry = trail_of(tool)[-1]
    assert f'href="{address(Tool, "change", tool.pk)}"' in detail(client, entry)
    tool.delete()
    alice.delete()
    client.force_login(User.objects.create_superuser("bob"))
    page = detail(client, AuditEntry.objects.get(pk=entry.pk))
    assert "alice" in page
    assert "no longer there" in page


def test_nobody_can_add_change_or_delete_entries(admin_client: Client) -> None:
    make_tool()
    entry = latest()
    for page in ("change", "delete"):
        path = address(AuditEntry, page, entry.pk)
        assert admin_client.post(path, {"actor": "x", "post": "yes"}).status_code == 403
    assert admin_client.post(address(AuditEntry, "add"), {}).status_code == 403
    act(admin_client, AuditEntry, "delete_selected", entry)
    assert AuditEntry.objects.get(pk=entry.pk).actor == entry.actor
    assert not Permission.objects.filter(codename="delete_auditentry").exists()


def test_viewers_have_the_admins_own_history_instead(client: Client) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_tool"))
    client.force_login(viewer)
    tool = make_tool()
    assert client.get(LIST).status_code == 403
    assert client.get(address(AuditEntry, "change", latest().pk)).status_code == 403
    assert client.get(reverse("admin:tools_tool_history", args=[tool.pk])).status_code == 200
    client.logout()
    assert client.get(reverse("admin:tools_tool_history", args=[tool.pk])).status_code == 302


def test_values_are_shown_as_text_whatever_they_hold(admin_client: Client) -> None:
    properties: dict[str, Any] = {
        "n": {"type": "integer", "description": "<script>alert(1)</script>"}
    }
    tool = make_tool(name="echo", input_schema={"type": "object", "properties": properties})
    tool.input_schema = {"type": "object", "properties": {"n": {"type": "number"}}}
    tool.description = "Hidden\u200b words. <b>bold</b>"
    tool.save()
    page = detail(admin_client, latest())
    assert "argument n" in page
    assert "<script>alert" not in page
    assert "<b>bold" not in page
    assert "U+200B" in page
    for number in range(3000):
        properties[f"argument_{number}"] = {"type": "string"}
    tool.input_schema = {"type": "object", "properties": properties}
    tool.save()
    page = detail(admin_client, latest())
    assert "Only the first 20000 characters" in page
    tool.input_schema = {"type": "object", "properties": {**properties, "zzz": {"type": "string"}}}
    tool.save()
    assert "they differ further on" in detail(admin_client, latest())


def test_the_list_is_cheap_with_many_rows(
    admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(
            actor_kind="worker", action="changed", kind="tools.tool", object_name=f"tool {n}"
        )
        for n in range(12_000)
    )
    with django_assert_max_num_queries(30):
        page = admin_client.get(LIST)
    assert page.context["cl"].paginator.capped
    assert len(page.context["cl"].result_list) == 50


def test_other_parts_can_add_actions_of_their_own(admin_client: Client) -> None:
    record_action(Action.EXPORTED, "request log", "1,000 calls", note="As CSV, of tool echo.")
    assert "As CSV, of tool echo." in detail(admin_client, latest())
