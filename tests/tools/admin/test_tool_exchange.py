"""Tools to a file and back, through the list."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from controlplane.roles import OPERATOR, VIEWER, ensure_roles
from tests.factories import make_tool
from tests.tools.admin.pages import act, text, untouched
from tools.admin.tool_import import LARGEST, pack, unpack
from tools.models import CatalogState, Tool
from tools.services.apply_config import read_document

pytestmark = pytest.mark.django_db

LIST = "/admin/tools/tool/"
IMPORT = "/admin/tools/tool/import/"
EXPORT = "/admin/tools/tool/export/"
FILE = """
tools:
- name: search_notes
  description: Searches the notes; use it for questions about <meetings>.
  source: http_api
  handler: notes
  input_schema:
    type: object
    properties:
      query: {type: string}
- name: echo
  description: Answers with other words than before.
  source: http_api
  handler: echo
  input_schema: {type: object, properties: {}}
- name: class
  description: Cannot be saved under this name.
  source: http_api
  handler: echo
  input_schema: {type: object, properties: {}}
"""


def shown(client: Client, content: str | bytes, **more: Any) -> str:
    sent = content.encode() if isinstance(content, str) else content
    return text(client.post(IMPORT, {"file": SimpleUploadedFile("t.yaml", sent), **more}))


def fields(page: str) -> dict[str, Any]:
    found = {
        name: re.findall(rf'name="{name}" value="([^"]+)"', page)
        for name in ("kept", "digest", "chosen")
    }
    return {"kept": found["kept"], "digest": found["digest"], "chosen": found["chosen"]}


def save(client: Client, page: str, **changes: Any) -> str:
    return text(client.post(IMPORT, fields(page) | {"save": "yes"} | changes, follow=True))


def test_selected_tools_are_exported_as_a_file(admin_client: Client) -> None:
    one, _ = make_tool(name="echo"), make_tool(name="other")
    answer = act(admin_client, Tool, "export_selected", one)
    assert answer.headers["Content-Type"].startswith("application/yaml")
    assert re.search(r'attachment; filename="tools-[-0-9]+\.yaml"', str(answer.headers))
    assert [tool["name"] for tool in read_document(text(answer))["tools"]] == ["echo"]
    everything = read_document(text(admin_client.get(EXPORT)))["tools"]
    assert [tool["name"] for tool in everything] == ["echo", "other"]
    assert EXPORT in text(admin_client.get(LIST))
    assert IMPORT in text(admin_client.get(LIST))


def test_a_file_is_shown_then_saved(admin_client: Client) -> None:
    make_tool(name="echo", timeout_seconds=7)
    page = shown(admin_client, FILE)
    assert "1 new, 1 changed, 0 same, 1 refused." in page
    assert "name: class is a Python keyword." in page
    assert "&lt;meetings&gt;" in page
    assert "timeout seconds" in page
    assert Tool.objects.count() == 1
    version = CatalogState.objects.get().version
    assert "1 tool added, 1 changed." in save(admin_client, page)
    assert Tool.objects.get(name="echo").timeout_seconds == 30
    assert Tool.objects.get(name="search_notes").input_schema["properties"] == {
        "query": {"type": "string"}
    }
    assert CatalogState.objects.get().version > version
    assert LogEntry.objects.count() == 2
    again = shown(admin_client, FILE)
    assert "Already as the file says: search_notes, echo." in again
    assert 'name="save"' not in again


def test_only_what_is_ticked_is_saved(admin_client: Client) -> None:
    page = shown(admin_client, FILE)
    assert fields(page)["chosen"] == ["search_notes", "echo"]
    assert "Choose at least one tool." in save(admin_client, page, chosen=[])
    assert "1 tool added, 0 changed." in save(admin_client, page, chosen=["echo"])
    assert [tool.name for tool in Tool.objects.all()] == ["echo"]


def test_what_somebody_changed_meanwhile_is_not_overwritten(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    page = shown(admin_client, FILE)
    tool.title = "By somebody else"
    tool.save()
    assert "The tools have changed since. Look at it again." in save(admin_client, page)
    assert Tool.objects.get().title == "By somebody else"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kept": "no"}, "Choose the file again."),
        ({"kept": pack("tools: [")}, "Nothing was saved: line 2, column 1"),
        ({"digest": ""}, "The tools have changed since."),
        ({"chosen": ["class"]}, "tools: class: name: class is a Python keyword."),
    ],
)
def test_a_page_that_was_tampered_with_saves_nothing(
    admin_client: Client, changes: dict[str, Any], told: str
) -> None:
    assert told in save(admin_client, shown(admin_client, FILE), **changes)
    assert not Tool.objects.exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"tools:\n- [a", "line 3, column 1"),
        (b"tools: \xff", "not text in UTF-8"),
        (b"\0\0", "not a YAML document"),
        (b" ", "Choose a file, or paste its text."),
        (b"just words", "must be a mapping"),
        (b"tools: {}", "tools must be a list"),
        (b"toolz: []", "is not a section"),
        (b"a: &a [*a]\ntools: []", "nested too deeply"),
        (b"tools: [&x {name: *x}]", "nested too deeply"),
        (b"tools: !!python/object/apply:os.system [id]", "could not determine a constructor"),
        (b"tools: []\ntools: []", "is written twice"),
        (b"[" * 900_000 + b"]" * 900_000, "line 1, column 101: the document is nested too deeply"),
        (b"x" * (LARGEST + 1), "larger than 2 MB"),
        (b"", "The submitted file is empty."),
    ],
)
def test_a_bad_file_is_told(admin_client: Client, content: bytes, told: str) -> None:
    page = shown(admin_client, content)
    assert told in page
    assert 'name="save"' not in page


def test_pasted_text_and_a_byte_order_mark_are_taken(admin_client: Client) -> None:
    assert "2 new" in text(admin_client.post(IMPORT, {"pasted": FILE}))
    assert "2 new" in shown(admin_client, b"\xef\xbb\xbf" + FILE.encode())


def test_viewers_export_and_operators_import(client: Client) -> None:
    ensure_roles()
    for role, may in ((VIEWER, False), (OPERATOR, True)):
        user = User.objects.create_user(role, is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        client.force_login(user)
        assert client.get(EXPORT).status_code == 200
        assert (client.get(IMPORT).status_code == 200) is may
        assert (client.post(IMPORT, {"pasted": FILE}).status_code == 200) is may
        assert (IMPORT in text(client.get(LIST))) is may
    client.logout()
    assert client.get(EXPORT).status_code == 302


def test_what_travels_with_the_page_is_bounded() -> None:
    assert unpack(pack("ü" * LARGEST)) == "ü" * LARGEST
    assert unpack(pack("x" * (LARGEST * 50))) is None
    assert unpack(pack("x" * (LARGEST + 1))) is None


def test_every_control_of_the_page_has_a_name(admin_client: Client) -> None:
    assert set(untouched(admin_client, IMPORT)) >= {"pasted", "csrfmiddlewaretoken"}
