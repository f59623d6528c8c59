"""Making a call of the request log again, and what differs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from tests.doors import RestDoor
from tests.factories import make_client, make_tool
from tests.faults.backend import FakeBackend
from tests.journal import row_of
from tests.processes import wait_until
from tests.tools.admin.pages import text
from tests.tools.backends.rows import finished, logged
from tools.execution.runtime import current
from tools.models import Tool, ToolRequest, ToolResponse

pytestmark = pytest.mark.usefixtures("backend")


def called(door: RestDoor, tool: str, arguments: Any) -> ToolRequest:
    """The row of a call that was made through the door."""
    return row_of(door.call(tool, arguments).json()["request_id"])


def page_of(row: ToolRequest) -> str:
    return reverse("admin:tools_toolrequest_replay", args=[row.pk])


@pytest.fixture
def row(door: RestDoor) -> ToolRequest:
    """An ordinary call."""
    make_tool(name="echo", requires_context_management=True)
    return called(door, "echo", {"result": {"sheep": 3, "list": list(range(20))}})


def test_the_page_of_a_call_leads_to_its_replay(admin_client: Client, row: ToolRequest) -> None:
    shown = text(admin_client.get(reverse("admin:tools_toolrequest_change", args=[row.pk])))
    assert "Replay" in shown
    page = text(admin_client.get(page_of(row)))
    assert "Replay now" in page
    assert "Then and now" not in page
    assert ToolRequest.objects.count() == 1


def test_the_same_answer_is_told_as_the_same(admin_client: Client, row: ToolRequest) -> None:
    page = text(admin_client.post(page_of(row), follow=True))
    assert "Both answers are the same." in page
    assert "Tokens before the budget" in page
    assert "admin:admin" in page
    made = ToolRequest.objects.exclude(pk=row.pk).get()
    assert (made.transport, made.parameters) == ("admin", row.parameters)


def test_the_row_of_a_call_that_was_just_tried_can_be_opened_at_once(
    admin_client: Client, row: ToolRequest
) -> None:
    tried = reverse("admin:tools_tool_try", args=[Tool.objects.get(name=row.tool_id).pk])
    page = text(admin_client.post(tried, {"json": "{}", "_run": "1"}, follow=True))
    way = re.search('href="([^"]+)">The row of this call', page)
    assert way is not None
    # It is written a moment after the answer; nobody is sent elsewhere because of that.
    assert "Life of the call" in text(admin_client.get(way[1]))


def test_the_caller_of_then_is_named_as_in_the_log(admin_client: Client, row: ToolRequest) -> None:
    caller, _ = make_client(name="Chat agent")
    ToolRequest.objects.filter(pk=row.pk).update(caller=f"client:{caller.pk}")
    named = f"Chat agent (client:{caller.pk})"
    page = text(admin_client.post(page_of(row), follow=True))
    # In the heading, and beside the person who called now.
    assert page.count(named) == 2
    assert f"by {named}</h2>" in page


def test_another_answer_is_shown_with_its_differences(
    admin_client: Client, row: ToolRequest
) -> None:
    kept = ToolResponse.objects.get(pk=row.pk)
    kept.body = json.dumps({"sheep": 2, "list": list(range(20))})
    kept.save()
    page = text(admin_client.post(page_of(row), follow=True))
    assert "<del>2</del>" in page
    assert "<ins>3</ins>" in page
    assert "lines alike" in page


def test_a_changed_definition_is_told_and_used(admin_client: Client, row: ToolRequest) -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    tool = Tool.objects.get(name="echo")
    tool.input_schema = schema
    tool.save()

    wait_until(
        lambda: current().directory.catalogue.tools["echo"].input_schema == schema,
        what="the new definition",
    )
    page = text(admin_client.post(page_of(row), follow=True))
    assert "The definition of the tool was changed since" in page
    assert "INVALID_ARGUMENTS" in page
    assert "differs" in page


def test_a_replay_reaches_the_backend_whatever_the_cache_has(
    admin_client: Client, door: RestDoor, backend: FakeBackend
) -> None:
    tool = make_tool(name="echo", cache_ttl_seconds=600)
    row = called(door, "echo", {"n": 1})
    done = text(admin_client.post(page_of(row), follow=True))
    assert backend.calls == {"echo": 2}
    assert "no, it was passed over" in done
    # So does one that was filled in by hand.
    form = reverse("admin:tools_tool_try", args=[tool.pk])
    assert "A replay does not use the cache." in text(admin_client.get(form, {"call": str(row.pk)}))
    data = {"json": '{"n": 1}', "replay": str(row.pk), "_run": "1"}
    assert "no, it was passed over" in text(admin_client.post(form, data, follow=True))
    assert backend.calls == {"echo": 3}
    made = row_of(str(ToolRequest.objects.exclude(pk=row.pk).latest("received_at").request_id))
    assert made.cache_hit is None


def test_secrets_that_were_not_kept_are_asked_for(
    admin_client: Client, door: RestDoor, backend: FakeBackend
) -> None:
    schema = {
        "type": "object",
        "properties": {"password": {"type": "string"}, "n": {"type": "integer"}},
    }
    tool = make_tool(name="echo", input_schema=schema)
    row = called(door, "echo", {"password": "hunter2", "n": 1})
    backend.calls.clear()
    page = text(admin_client.get(page_of(row)))
    assert "Secrets are not kept" in page
    assert "<code>password</code>" in page
    assert "Replay now" not in page
    assert "cannot be repeated as it is" in text(admin_client.post(page_of(row), follow=True))
    assert not backend.calls
    fill_in = f"{reverse('admin:tools_tool_try', args=[tool.pk])}?call={row.pk}"
    assert fill_in in page
    form = text(admin_client.get(fill_in))
    assert 'value="[redacted]"' in form
    assert f'name="replay" value="{row.pk}"' in form
    data = {"a/password": "swordfish", "a/n": "1", "replay": str(row.pk), "_run": "1"}
    done = admin_client.post(reverse("admin:tools_tool_try", args=[tool.pk]), data, follow=True)
    assert done.redirect_chain[-1][0].startswith(page_of(row))
    assert "Then and now" in text(done)


def test_what_was_not_kept_or_cut_is_said(
    admin_client: Client, door: RestDoor, backend: FakeBackend
) -> None:
    make_tool(name="silent", keep_body=False)
    make_tool(name="long")
    silent = called(door, "silent", {"n": 1})
    page = text(admin_client.post(page_of(silent), follow=True))
    assert "Then: Its answer was not kept." in page
    cut = called(door, "long", {"n": 1})
    kept = ToolResponse.objects.get(pk=cut.pk)
    kept.body, kept.truncated = kept.body[:9], True
    kept.save()
    page = text(admin_client.post(page_of(cut), follow=True))
    assert "Only the beginning of its answer was kept" in page
    assert "begins with what was kept" in page
    ToolRequest.objects.filter(pk=cut.pk).update(parameters={"_truncated": '{"a'})
    page = text(admin_client.get(page_of(cut)))
    assert "too long to be kept whole" in page
    assert "Replay now" not in page


def test_a_call_of_a_tool_that_is_gone_is_replayed_to_that_answer(
    admin_client: Client, row: ToolRequest
) -> None:
    Tool.objects.filter(name="echo").delete()
    assert "no such tool any more" in text(admin_client.get(page_of(row)))
    page = admin_client.post(page_of(row), follow=True)
    assert page.status_code == 200


def test_who_may_only_look_replays_nothing(client: Client, row: ToolRequest) -> None:
    viewer = User.objects.create_user("vi", is_staff=True)
    viewer.user_permissions.add(*Permission.objects.filter(codename__startswith="view_"))
    client.force_login(viewer)
    assert client.get(page_of(row)).status_code == 403
    assert client.post(page_of(row)).status_code == 403
    shown = text(client.get(reverse("admin:tools_toolrequest_change", args=[row.pk])))
    assert page_of(row) not in shown
    assert "replay" not in shown.lower()
    assert ToolRequest.objects.count() == 1


def in_a_group(client: Client, *codenames: str) -> Group:
    """Log somebody in whose only group may do this."""
    group = Group.objects.create(name="Own")
    group.permissions.add(*Permission.objects.filter(codename__in=codenames))
    person = User.objects.create_user("own", is_staff=True)
    person.groups.add(group)
    client.force_login(person)
    return group


def test_the_kept_answer_is_compared_only_for_who_may_see_answers(
    client: Client, row: ToolRequest
) -> None:
    group = in_a_group(client, "change_tool", "view_toolrequest")
    ToolResponse.objects.filter(pk=row.pk).update(body='{"sheep": "of somebody"}')
    replayed = client.post(page_of(row), follow=True)
    page = text(replayed)
    assert "Then: Not shown: you may not see the answers of calls" in page
    assert "of somebody" not in page
    # That of their own call they got themselves.
    assert "&quot;sheep&quot;: 3" in page
    group.permissions.add(Permission.objects.get(codename="view_toolresponse"))
    assert "of somebody" in text(client.get(replayed.redirect_chain[-1][0]))


def test_a_form_is_filled_in_only_from_calls_of_the_tool_for_who_may_see_the_log(
    client: Client, row: ToolRequest, backend: FakeBackend
) -> None:
    tool = Tool.objects.get(name="echo")
    group = in_a_group(client, "change_tool")
    address = reverse("admin:tools_tool_try", args=[tool.pk])
    for other in (address, reverse("admin:tools_tool_try", args=[make_tool(name="other").pk])):
        page = text(client.get(other, {"call": str(row.pk)}))
        assert "Nothing was filled in from the call" in page
        assert "sheep" not in page
        group.permissions.add(Permission.objects.get(codename="view_toolrequest"))
    assert "sheep" in text(client.get(address, {"call": str(row.pk)}))
    group.permissions.remove(Permission.objects.get(codename="view_toolrequest"))
    data = {"json": '{"n": 1}', "replay": str(row.pk), "_run": "1"}
    done = client.post(address, data, follow=True)
    assert done.status_code == 200
    assert "Succeeded in" in text(done)


def test_a_replay_of_another_call_is_not_shown_here(
    admin_client: Client, row: ToolRequest, door: RestDoor
) -> None:
    other = called(door, "echo", {"n": 1})
    done = admin_client.post(page_of(row))
    trial = done.headers["Location"].rstrip("/").rpartition("/")[2]
    wrong = reverse("admin:tools_toolrequest_replayed", args=[other.pk, trial])
    assert admin_client.get(wrong).status_code == 404
    unknown = reverse(
        "admin:tools_toolrequest_replayed", args=[row.pk, "0d1f6a52-6c5f-4b0e-9d92-3b1f0a6a7c11"]
    )
    assert "This trial is not known" in text(admin_client.get(unknown))


def test_a_replay_that_is_opened_while_redis_is_away_is_looked_for_again(
    admin_client: Client, calls_from_pages: None, without_redis: None
) -> None:
    tool = make_tool(name="echo")
    logged([finished("echo")])
    row, unknown = ToolRequest.objects.get(), "0d1f6a52-6c5f-4b0e-9d92-3b1f0a6a7c11"
    page = reverse("admin:tools_toolrequest_replayed", args=[row.pk, unknown])
    shown = text(admin_client.get(page))
    where = reverse("admin:tools_tool_progress", args=[tool.pk, unknown])
    region = re.search(rf'<div data-follow="{where}".*?</section>', shown, re.DOTALL)
    assert region, shown
    assert 'data-busy="yes"' in region[0]
    assert "Redis cannot be reached" in region[0]
