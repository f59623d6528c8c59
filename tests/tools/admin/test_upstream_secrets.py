"""Secrets of MCP servers in the admin: they go in, and never come out."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.tools.admin.pages import submit, text
from tests.tools.admin.upstream_pages import commands, page_of
from tests.upstream_rows import make_upstream
from tools.models import UpstreamServer
from tools.vault import unseal

__all__ = ["commands"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "commands")]

TOKEN = "Bearer t0p-s3cret-token"
VARIABLE = "an0ther-s3cret"


def test_headers_go_in_and_their_values_never_come_out(admin_client: Client) -> None:
    server = make_upstream()
    page = page_of(server)
    saved = submit(admin_client, page, new_headers=f"Authorization: {TOKEN}\n\nX-Team:  sheep ")
    assert TOKEN not in text(saved)
    server.refresh_from_db()
    assert json.loads(unseal(server.headers)) == {"Authorization": TOKEN, "X-Team": "sheep"}
    shown = text(admin_client.get(page))
    assert "Authorization, X-Team (values are encrypted)" in shown
    assert TOKEN not in shown
    assert server.headers not in shown
    # Saving the page again leaves them as they are; the switch forgets them.
    submit(admin_client, page, description="Sheep.")
    assert UpstreamServer.objects.get().headers == server.headers
    submit(admin_client, page, forget_headers="on")
    assert UpstreamServer.objects.get().headers == ""


def test_secrets_are_not_shown_again_when_something_else_was_wrong(admin_client: Client) -> None:
    server = make_upstream()
    refused = submit(
        admin_client, page_of(server), new_headers=f"Authorization: {TOKEN}", retries="99"
    )
    assert "less than or equal to 5" in text(refused)
    assert TOKEN not in text(refused)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("Authorization", "Line 1 has no &#x27;:&#x27; after its name."),
        ("A: 1\nA: 2", "A is there twice."),
        ("Bad name: 1", "is not the name of a header."),
        ("Host: elsewhere", "Host is set by the client itself."),
    ],
)
def test_headers_that_cannot_be_sent_are_told(admin_client: Client, lines: str, told: str) -> None:
    assert told in text(submit(admin_client, page_of(make_upstream()), new_headers=lines))


def test_variables_are_kept_for_commands_that_may_have_them(admin_client: Client) -> None:
    server = make_upstream(transport="stdio", command="files", url="")
    page = page_of(server)
    submit(admin_client, page, new_environment=f"API_KEY={VARIABLE}")
    server.refresh_from_db()
    assert json.loads(unseal(server.environment)) == {"API_KEY": VARIABLE}
    shown = text(admin_client.get(page))
    assert "API_KEY (values are encrypted)" in shown
    assert VARIABLE not in shown
    refused = text(submit(admin_client, page, new_environment="LD_PRELOAD=/tmp/evil.so"))
    assert (
        "LD_PRELOAD cannot be given to this command; UPSTREAM_COMMANDS allows API_KEY." in refused
    )


AGAIN = "does not go along. Enter it again, or switch on"


@pytest.mark.parametrize(
    "moved",
    [
        "https://evil.example/mcp",
        "https://mcp.example.org:8443/mcp",
        "http://mcp.example.org/mcp",
        "https://evil.example\\@mcp.example.org/mcp",
    ],
)
def test_stored_headers_do_not_go_along_to_another_origin(admin_client: Client, moved: str) -> None:
    server = make_upstream()
    page = page_of(server)
    submit(admin_client, page, new_headers=f"Authorization: {TOKEN}")
    refused = text(submit(admin_client, page, url=moved))
    assert f"{AGAIN} “Forget the stored headers”." in refused
    assert UpstreamServer.objects.get().url == server.url
    submit(admin_client, page, url=moved, new_headers="Authorization: other")
    there = UpstreamServer.objects.get()
    assert (there.url, json.loads(unseal(there.headers))) == (moved, {"Authorization": "other"})


def test_stored_headers_stay_for_another_path_and_can_be_forgotten(admin_client: Client) -> None:
    page = page_of(make_upstream())
    submit(admin_client, page, new_headers=f"Authorization: {TOKEN}")
    submit(admin_client, page, url="https://mcp.example.org/v2/mcp")
    stored = UpstreamServer.objects.get()
    assert json.loads(unseal(stored.headers)) == {"Authorization": TOKEN}
    assert stored.url == "https://mcp.example.org/v2/mcp"
    submit(admin_client, page, url="https://other.example/mcp", forget_headers="on")
    stored = UpstreamServer.objects.get()
    assert (stored.url, stored.headers) == ("https://other.example/mcp", "")


def test_stored_headers_do_not_go_along_by_way_of_a_program(admin_client: Client) -> None:
    page = page_of(make_upstream())
    submit(admin_client, page, new_headers=f"Authorization: {TOKEN}")
    submit(admin_client, page, transport="stdio", command="notes")
    assert UpstreamServer.objects.get().url == ""
    back = {"transport": "streamable_http", "url": "https://evil.example/mcp"}
    assert f"{AGAIN} “Forget the stored headers”." in text(submit(admin_client, page, **back))
    assert UpstreamServer.objects.get().transport == "stdio"


def test_stored_variables_do_not_go_along_to_another_program(admin_client: Client) -> None:
    page = page_of(make_upstream(transport="stdio", command="files", url=""))
    submit(admin_client, page, new_environment=f"API_KEY={VARIABLE}")
    refused = text(submit(admin_client, page, command="notes"))
    assert "was entered for another command and does not go along" in refused
    assert UpstreamServer.objects.get().command == "files"
    submit(admin_client, page, command="notes", forget_environment="on")
    stored = UpstreamServer.objects.get()
    assert (stored.command, stored.environment) == ("notes", "")


@pytest.mark.parametrize("url", ["", "https://todo.example/" + "h" * 2000])
def test_address_that_is_none_is_told_alone(admin_client: Client, url: str) -> None:
    server = make_upstream()
    page = page_of(server)
    submit(admin_client, page, new_headers=f"Authorization: {TOKEN}")
    shown = submit(admin_client, page, url=url)
    assert set(shown.context["adminform"].form.errors) == {"url"}
    assert UpstreamServer.objects.get().url == server.url


def test_missing_command_is_told_alone(admin_client: Client) -> None:
    server = make_upstream(transport="stdio", command="files", url="")
    page = page_of(server)
    submit(admin_client, page, new_environment=f"API_KEY={VARIABLE}")
    shown = submit(admin_client, page, command="")
    assert set(shown.context["adminform"].form.errors) == {"command"}
    assert UpstreamServer.objects.get().command == "files"
