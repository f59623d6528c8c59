"""Versions of a tool: kept at every change, compared, and gone back to."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from tests.factories import make_pipeline, make_tool
from tests.tools.admin.pages import act, address, submit, text
from tests.trail import trail_of
from tests.upstream_rows import definition, make_upstream, offers
from tools.models import AuditEntry, Tool, ToolVersion
from tools.services.sync_upstream import record_discovery

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def versions(tool: Tool) -> list[ToolVersion]:
    return list(ToolVersion.objects.filter(tool=tool.pk).order_by("number"))


def revert(client: Client, tool: Tool, number: int, seen: int | str | None = None) -> Any:
    path = reverse("admin:tools_tool_revert", args=[tool.pk, number])
    known = client.get(path).context["seen"] if seen is None else seen
    return client.post(path, {"seen": known}, follow=True)


def test_every_change_of_a_definition_is_a_version(admin_client: Client) -> None:
    tool = make_tool(name="echo", title="One")
    submit(admin_client, address(Tool, "change", tool.pk), title="Two", timeout_seconds="9")
    submit(admin_client, address(Tool, "change", tool.pk))
    act(admin_client, Tool, "disable", tool)
    kept = versions(tool)
    assert [one.number for one in kept] == [1, 2, 3]
    assert [one.fields for one in kept] == ["", "title, timeout_seconds", "enabled"]
    assert [one.definition["title"] for one in kept] == ["One", "Two", "Two"]
    assert [one.actor for one in kept[1:]] == ["admin", "admin"]
    page = text(admin_client.get(reverse("admin:tools_tool_versions", args=[tool.pk])))
    assert "title, timeout seconds" in page
    assert "in use" in page


def test_a_tool_from_before_begins_with_what_was_there(admin_client: Client) -> None:
    tool = make_tool(name="echo", title="Old")
    ToolVersion.objects.all().delete()
    page = reverse("admin:tools_tool_versions", args=[tool.pk])
    assert "No version is kept yet." in text(admin_client.get(page))
    submit(admin_client, address(Tool, "change", tool.pk), title="New")
    first, second = versions(tool)
    assert (first.definition["title"], second.definition["title"]) == ("Old", "New")
    assert (first.actor, second.actor) == ("", "admin")
    assert "As it was before versions were kept." in text(admin_client.get(page))


def test_any_two_versions_are_compared(admin_client: Client) -> None:
    tool = make_tool(name="echo", title="One")
    for title in ("Two", "Three"):
        tool.title = title
        tool.input_schema = {"type": "object", "properties": {title: {"type": "string"}}}
        tool.save()
    page = reverse("admin:tools_tool_versions", args=[tool.pk])
    shown = text(admin_client.get(page, {"first": 1, "second": 3}))
    assert "From version 1 to version 3" in shown
    assert ">Three</ins>" in shown
    assert "argument Three" in shown
    assert "They are the same." in text(admin_client.get(page, {"first": 2, "second": 2}))
    for odd in ("0", "99", "-1", "x", "\u0663", "9" * 40, ""):
        found = admin_client.get(page, {"first": odd, "second": "3", "before": odd})
        assert found.status_code == 200
    older = text(admin_client.get(page, {"before": 2}))
    assert 'aria-label="Compare from version 1"' in older
    assert 'aria-label="Compare from version 2"' not in older


def test_a_tool_goes_back_to_a_version_which_is_a_new_one(admin_client: Client) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    tool = make_tool(name="echo", title="One", tags=["x"], input_schema=schema)
    submit(admin_client, address(Tool, "change", tool.pk), title="Two", tags="[]", name="echo_two")
    page = text(admin_client.get(reverse("admin:tools_tool_revert", args=[tool.pk, 1])))
    assert ">One</ins>" in page
    assert "Revert to version 1" in page
    assert "echo is again what it was in version 1." in text(revert(admin_client, tool, 1))
    tool.refresh_from_db()
    assert (tool.name, tool.title, tool.tags, tool.input_schema) == ("echo", "One", ["x"], schema)
    newest = versions(tool)[-1]
    assert (newest.number, newest.note, newest.actor) == (3, "Reverted to version 1.", "admin")
    entry = trail_of(tool)[-1]
    assert (entry.action, entry.note) == ("reverted", "Reverted to version 1.")
    assert "is as it was in version 1 already" in text(revert(admin_client, tool, 1))
    assert len(versions(tool)) == 3


def test_secrets_in_versions_are_not_shown_but_come_back(admin_client: Client) -> None:
    def schema(secret: str) -> dict[str, Any]:
        login = {"type": "object", "default": {"user": "me", "password": f"hunter2-{secret}"}}
        token = {"type": "string", "default": f"hunter2-{secret}"}
        return {"type": "object", "properties": {"token": token, "login": login}}

    tool = make_tool(description="Calls with sk-" + "a" * 20, input_schema=schema("old"))
    tool.input_schema = schema("new")
    tool.description = "Calls with sk-" + "b" * 20
    tool.save()
    tool.description = "Calls with nothing."
    tool.save()
    versions_page = reverse("admin:tools_tool_versions", args=[tool.pk])
    within = text(admin_client.get(versions_page, {"first": 1, "second": 2}))
    assert "They differ in a secret, which is not shown." in within
    beside = text(admin_client.get(versions_page, {"first": 1, "second": 3}))
    assert "[redacted]" in beside
    back = text(admin_client.get(reverse("admin:tools_tool_revert", args=[tool.pk, 1])))
    for page in (within, beside, back):
        assert "hunter2" not in page
        assert "sk-aaaa" not in page
    revert(admin_client, tool, 1)
    tool.refresh_from_db()
    assert tool.input_schema == schema("old")


def test_going_back_is_checked_like_any_change(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    tool.name = "other"
    tool.save()
    make_tool(name="echo")
    answer = text(revert(admin_client, tool, 1))
    assert "Nothing was changed." in answer
    assert "already exists" in answer
    version = versions(tool)[0]
    version.definition = {**version.definition, "timeout_seconds": 9999, "gone": 1, "name": "other"}
    version.save()
    assert "timeout seconds:" in text(revert(admin_client, tool, 1))
    assert len(versions(tool)) == 2
    version.definition = {**version.definition, "source": "builtin", "handler": "nothing"}
    version.save()
    assert "handler:" in text(revert(admin_client, tool, 1))


def test_who_decided_on_what_is_no_longer_there_is_told(admin_client: Client) -> None:
    tool = make_tool(title="One")
    tool.title = "Two"
    tool.save()
    for seen in (1, "x", ""):
        assert "has changed since" in text(revert(admin_client, tool, 1, seen))
    tool.refresh_from_db()
    assert tool.title == "Two"


def test_what_a_pipeline_sets_stays(admin_client: Client) -> None:
    pipeline = make_pipeline()
    tool = pipeline.tool
    pipeline.timeout_seconds = 17
    pipeline.save()
    tool.refresh_from_db()
    tool.title = "Another"
    tool.save()
    page = text(admin_client.get(reverse("admin:tools_tool_revert", args=[tool.pk, 1])))
    assert "These fields stay as they are" in page
    assert "timeout seconds" in page
    before = versions(tool)[0].definition
    revert(admin_client, tool, 1)
    tool.refresh_from_db()
    assert (tool.title, tool.timeout_seconds) == (before["title"], 17)


def test_what_a_server_defines_stays(admin_client: Client) -> None:
    make_upstream(slug="todo")
    record_discovery("todo", offers(definition("one", description="Does one thing well.")))
    tool = Tool.objects.get(name="one")
    tool.token_budget = 500
    tool.description = "Does another thing well."
    tool.save()
    revert(admin_client, tool, 1)
    tool.refresh_from_db()
    assert (tool.token_budget, tool.description) == (2000, "Does another thing well.")


def test_another_tool_of_the_same_name_has_its_own_versions(admin_client: Client) -> None:
    first = make_tool(name="echo", title="Old")
    first.title = "Older"
    first.save()
    number = first.pk
    first.delete()
    second = make_tool(name="echo", title="New")
    assert second.pk != number
    assert [one.definition["title"] for one in versions(second)] == ["New"]
    assert admin_client.get(f"/admin/tools/tool/{number}/versions/").status_code == 404
    assert AuditEntry.objects.filter(kind="tools.tool", object_id=number).count() == 3


def test_who_may_only_look_cannot_go_back(client: Client) -> None:
    tool = make_tool(title="One")
    tool.title = "Two"
    tool.save()
    path = reverse("admin:tools_tool_revert", args=[tool.pk, 1])
    viewer = User.objects.create_user("viewer", is_staff=True)
    client.force_login(viewer)
    assert client.get(path).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="view_tool"))
    client.force_login(User.objects.get(pk=viewer.pk))
    assert "Revert to version 1</button>" not in text(client.get(path))
    assert client.post(path, {"seen": 2}).status_code == 403
    listed = client.get(reverse("admin:tools_tool_versions", args=[tool.pk]))
    assert "Look …" in text(listed)
    tool.refresh_from_db()
    assert tool.title == "Two"


def test_pages_of_what_is_not_there_say_so(admin_client: Client) -> None:
    tool = make_tool()
    for path in (f"{tool.pk}/versions/7/revert/", "999/versions/", "999/versions/1/revert/"):
        assert admin_client.get(f"/admin/tools/tool/{path}").status_code == 404
    assert (
        admin_client.post(
            f"/admin/tools/tool/{tool.pk}/versions/7/revert/", {"seen": 1}
        ).status_code
        == 404
    )
    link = admin_client.get(address(Tool, "change", tool.pk))
    assert "Versions" in text(link)
    jumped = admin_client.get(f"/admin/tools/tool/{tool.pk}/versions/")
    assert jumped.status_code == 200
