"""JSON on the admin's pages: checked while somebody types, shown as a table."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from controlplane.roles import VIEWER, ensure_roles
from tests.factories import make_tool
from tests.tools.admin.pages import address, submit, text, untouched
from tests.upstream_rows import make_upstream, offers
from tools.models import ApiOperation, Prompt, Tool
from tools.services.sync_upstream import record_discovery

pytestmark = pytest.mark.django_db

SCHEMA = {
    "type": "object",
    "properties": {"animal": {"type": "string", "description": "<b>Which</b> one."}},
    "required": ["animal"],
}


def check(client: Client, name: str, typed: str, model: Any = Tool, **more: str) -> Any:
    sent = {"name": name, "text": typed, **more}
    return client.post(address(model, "check_json"), sent)


def test_a_broken_schema_is_told_with_line_and_column(admin_client: Client) -> None:
    answer = check(admin_client, "input_schema", '{"type": "object",\r\n "properties": }').json()
    assert answer["sound"] is False
    assert (answer["told"][0]["line"], answer["told"][0]["column"]) == (2, 16)
    assert answer["preview"] == ""
    assert not Tool.objects.exists()


def test_a_sound_schema_is_shown_as_a_table_with_an_example(admin_client: Client) -> None:
    answer = check(admin_client, "input_schema", json.dumps(SCHEMA)).json()
    assert (answer["sound"], answer["told"]) == (True, [])
    assert "&lt;b&gt;Which&lt;/b&gt; one." in answer["preview"]
    assert "&quot;animal&quot;: &quot;text&quot;" in answer["preview"]
    assert "formatted" not in answer


def test_text_is_formatted_without_touching_numbers(admin_client: Client) -> None:
    long = '{"a":1.0,"b":123456789012345678901234567890}'
    answer = check(admin_client, "metadata", long, format="yes").json()
    assert answer["formatted"] == '{\n  "a": 1.0,\n  "b": 123456789012345678901234567890\n}'
    assert check(admin_client, "metadata", "{", format="yes").json()["formatted"] is None


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("input_schema", "", "This field is required."),
        ("output_schema", "", None),
        ("tags", '{"a": 1}', "Must be a list of texts"),
        ("tags", "[]", None),
        ("metadata", "[1]", "Must be a JSON object"),
        ("preserve_keys", '["a"]', None),
    ],
)
def test_every_field_has_its_own_rules(
    admin_client: Client, name: str, typed: str, told: str | None
) -> None:
    answer = check(admin_client, name, typed).json()
    assert answer["sound"] is (told is None)
    assert (told or "") in str(answer["told"])


def test_other_pages_check_their_json_too(admin_client: Client) -> None:
    answer = check(admin_client, "input_schema", '{"type": "array"}', ApiOperation).json()
    assert "The root must have" in answer["told"][0]["message"]
    assert check(admin_client, "messages", "[}", Prompt).json()["told"][0]["column"] == 2


def test_a_field_that_holds_no_json_is_not_found(admin_client: Client) -> None:
    assert check(admin_client, "name", "{}").status_code == 404
    assert check(admin_client, "nothing", "{}").status_code == 404


def test_only_who_may_change_tools_may_ask(client: Client, admin_client: Client) -> None:
    assert admin_client.get(address(Tool, "check_json")).status_code == 405
    ensure_roles()
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.groups.add(Group.objects.get(name=VIEWER))
    client.force_login(viewer)
    assert check(client, "input_schema", "{}").status_code == 403
    client.logout()
    assert check(client, "input_schema", "{}").status_code == 302


def test_asking_without_the_token_of_the_page_is_refused(admin_user: User) -> None:
    stranger = Client(enforce_csrf_checks=True)
    stranger.force_login(admin_user)
    assert check(stranger, "input_schema", "{}").status_code == 403


def test_the_page_of_a_tool_has_a_table_of_its_arguments(admin_client: Client) -> None:
    tool = make_tool(input_schema=SCHEMA, output_schema={"type": "object"})
    page = text(admin_client.get(address(Tool, "change", tool.pk)))
    assert "&lt;b&gt;Which&lt;/b&gt; one." in page
    assert "Nothing is said about its parts." in page
    assert address(Tool, "check_json") in page
    assert 'class="schema-table"' not in text(admin_client.get(address(Tool, "add")))


def test_tools_that_cannot_be_edited_have_the_table_as_well(
    admin_client: Client, redis_url: str
) -> None:
    server = make_upstream()
    record_discovery(server.slug, offers("away"))
    tool = Tool.objects.get(source="upstream")
    page = text(admin_client.get(address(Tool, "change", tool.pk)))
    assert "input_schema" not in untouched(admin_client, address(Tool, "change", tool.pk))
    assert "No fixed shape." in page


def test_a_row_whose_schema_is_nonsense_still_has_a_page(admin_client: Client) -> None:
    tool = make_tool()
    odd = {"type": "object", "properties": {"a": 5, "b": {"items": 7, "anyOf": "x"}}}
    Tool.objects.filter(pk=tool.pk).update(input_schema=odd)
    assert admin_client.get(address(Tool, "change", tool.pk)).status_code == 200


def test_a_number_that_is_too_long_is_told(admin_client: Client) -> None:
    tool = make_tool()
    long = f'{{"a": {"9" * 5000}}}'
    page = submit(admin_client, address(Tool, "change", tool.pk), metadata=long)
    assert "A number is too long" in text(page)
