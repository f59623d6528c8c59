"""The page of a tool: how it is called, its latest calls, and a copy of it."""

from __future__ import annotations

import io
import json
import uuid
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from tests.events import closing
from tests.factories import make_client, make_pipeline, make_service, make_tool
from tests.tools.admin.pages import address, submit, text, untouched
from tests.tools.log_rows import record
from tests.upstream_rows import make_upstream, offers
from tools.models import Tool, ToolRequest
from tools.services.sync_upstream import record_discovery
from tools.services.write_journal import write_events

pytestmark = pytest.mark.django_db

SCHEMA = {
    "type": "object",
    "properties": {"animal": {"type": "string", "examples": ["<sheep>"]}, "n": {"type": "integer"}},
    "required": ["animal"],
}


def test_page_tells_how_it_is_called(admin_client: Client) -> None:
    tool = make_tool(name="echo", input_schema=SCHEMA)
    page = text(admin_client.get(address(Tool, "change", tool.pk)))
    for told in ("With curl", "From Python", "Over MCP", "http://testserver/call-tool"):
        assert told in page
    assert "&lt;sheep&gt;" in page
    assert "<sheep>" not in page
    assert "CONTROL_PLANE_KEY" not in page
    make_service(security_api_keys_enabled=True)
    assert "CONTROL_PLANE_KEY" in text(admin_client.get(address(Tool, "change", tool.pk)))


def test_page_says_when_arguments_could_not_be_made_up(admin_client: Client) -> None:
    told = "it asks for more than could be made up"
    simple = make_tool(name="simple", input_schema=SCHEMA)
    assert told not in text(admin_client.get(address(Tool, "change", simple.pk)))
    pattern = {"type": "string", "pattern": "^[0-9]{4}$"}
    hard = {"type": "object", "properties": {"year": pattern}, "required": ["year"]}
    odd = make_tool(name="odd", input_schema=hard)
    assert told in text(admin_client.get(address(Tool, "change", odd.pk)))


def test_page_shows_the_latest_calls(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    make_tool(name="other")
    page = address(Tool, "change", tool.pk)
    assert "None yet." in text(admin_client.get(page))
    for name in ["echo"] * 12 + ["other"]:
        write_events([json.dumps(closing(str(uuid.uuid4()), tool=name))])
    shown = text(admin_client.get(page))
    links = [reverse("admin:tools_toolrequest_change", args=[row.pk]) for row in rows("echo")]
    assert sum(f'href="{link}"' in shown for link in links) == 10
    log = reverse("admin:tools_toolrequest_changelist") + "?tool__exact=echo"
    assert f'href="{log}"' in shown
    assert admin_client.get(log).context["cl"].result_count == 12


def test_whoever_may_not_see_the_log_sees_no_calls_of_a_tool(client: Client) -> None:
    tool = make_tool(name="echo")
    write_events([json.dumps(closing(str(uuid.uuid4()), tool="echo"))])
    person = User.objects.create_user("somebody", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_tool"))
    client.force_login(person)
    page, listed = address(Tool, "change", tool.pk), address(Tool, "changelist")
    assert "Latest calls" not in text(client.get(page))
    assert "24 h" not in text(client.get(listed))
    person.user_permissions.add(Permission.objects.get(codename="view_toolrequest"))
    assert "Latest calls" in text(client.get(page))
    assert "24 h" in text(client.get(listed))


def rows(tool: str) -> list[ToolRequest]:
    return list(ToolRequest.objects.filter(tool_id=tool))


def test_latest_calls_name_their_callers_as_the_log_does(admin_client: Client) -> None:
    tool, (caller, _) = make_tool(name="echo"), make_client(name="Chat agent")
    record(tool_id="echo", caller=f"client:{caller.pk}")
    record(tool_id="echo", caller="admin:ada")
    shown = text(admin_client.get(address(Tool, "change", tool.pk)))
    assert f"Chat agent (client:{caller.pk})" in shown
    assert ">admin:ada<" in shown


def test_a_copy_begins_as_the_other_and_switched_off(admin_client: Client) -> None:
    tool = make_tool(name="echo", input_schema=SCHEMA, timeout_seconds=7, tags=["a"], enabled=True)
    answer = admin_client.get(reverse("admin:tools_tool_clone", args=[tool.pk]))
    form = answer.headers["Location"]
    assert untouched(admin_client, form)["name"] == "echo_copy"
    submit(admin_client, form)
    copy = Tool.objects.get(name="echo_copy")
    assert (copy.input_schema, copy.timeout_seconds, copy.tags) == (SCHEMA, 7, ["a"])
    assert (copy.enabled, copy.source) == (False, tool.source)
    tool.refresh_from_db()
    assert (tool.name, tool.enabled) == ("echo", True)


def test_the_tool_of_a_server_is_not_cloned(admin_client: Client, redis_url: str) -> None:
    server = make_upstream()
    record_discovery(server.slug, offers("away"))
    tool = Tool.objects.get(source="upstream")
    answer = admin_client.get(reverse("admin:tools_tool_clone", args=[tool.pk]), follow=True)
    assert "cannot be cloned by itself. Add the server once more under another slug" in text(answer)


def test_a_schema_that_cannot_be_edited_is_shown_in_lines(
    admin_client: Client, redis_url: str
) -> None:
    server = make_upstream()
    record_discovery(server.slug, offers("away"))
    tool = Tool.objects.get(source="upstream")
    page = strip_tags(text(admin_client.get(address(Tool, "change", tool.pk))))
    lines = unescape(page).splitlines()
    assert '    "type": "object"' in [line.removesuffix(",") for line in lines]


@pytest.mark.parametrize("number", ["0", "x", "99999"])
def test_a_copy_of_nothing_is_an_empty_form(admin_client: Client, number: str) -> None:
    page = admin_client.get(address(Tool, "add"), {"clone": number})
    assert page.status_code == 200
    assert untouched(admin_client, address(Tool, "add") + f"?clone={number}")["name"] == ""


def test_the_tool_of_a_pipeline_is_not_cloned(admin_client: Client, redis_url: str) -> None:
    tool = make_pipeline().tool
    answer = admin_client.get(reverse("admin:tools_tool_clone", args=[tool.pk]), follow=True)
    assert "cannot be cloned by itself. Add a pipeline of another technique instead" in text(answer)
    assert Tool.objects.count() == 1


def test_the_shipped_tool_of_an_api_is_cloned_with_what_answers_for_it(
    admin_client: Client, redis_url: str
) -> None:
    call_command("seed_nsip", stdout=io.StringIO())
    tool = Tool.objects.get(name="nsip_get_animal")
    submit(admin_client, reverse("admin:tools_tool_clone", args=[tool.pk]))
    copy = Tool.objects.get(name="nsip_get_animal_copy")
    assert copy.api_operation.binding() == tool.api_operation.binding()
    assert copy.api_operation.adapter


def test_a_copy_of_a_tool_that_is_gone_is_not_found(admin_client: Client) -> None:
    answer = admin_client.get(reverse("admin:tools_tool_clone", args=[7]))
    assert answer.status_code == 404
