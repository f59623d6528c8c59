"""`manage.py sync_upstream`."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.mcp_upstream import http_upstream
from tests.upstream_rows import make_upstream
from tools.models import Tool, UpstreamItem, UpstreamServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

LOOPBACK = ["127.0.0.0/8"]


def run(*arguments: str, errors: io.StringIO | None = None) -> str:
    told = io.StringIO()
    call_command("sync_upstream", *arguments, stdout=told, stderr=errors or io.StringIO())
    return told.getvalue()


def test_what_a_server_offers_is_put_into_the_catalogue_and_told(tmp_path: Path) -> None:
    # S2-007, C14
    with http_upstream(tmp_path) as upstream:
        make_upstream(slug="trial", url=upstream.url, allowed_networks=LOOPBACK)
        told = run("trial")
        assert "added: tool echo" in told
        assert "protocol 20" in told
        assert Tool.objects.filter(name="echo", source="upstream").exists()
        assert "Nothing has changed." in run("trial")
        upstream.set(descriptions={"echo": "Answers with something else now."})
        assert "changed, quarantined: tool echo" in run("trial")


def test_server_without_tools_is_told_with_a_warning(tmp_path: Path) -> None:
    with http_upstream(tmp_path, no_tools=True) as upstream:
        make_upstream(slug="trial", url=upstream.url, allowed_networks=LOOPBACK)
        assert "warning: No MCP tools available" in run("trial")


def test_all_are_asked_although_one_is_away(tmp_path: Path) -> None:
    with http_upstream(tmp_path) as upstream:
        make_upstream(slug="here", url=upstream.url, allowed_networks=LOOPBACK)
        make_upstream(slug="away", url="http://127.0.0.1:9/mcp", allowed_networks=LOOPBACK)
        make_upstream(slug="off", url=upstream.url, allowed_networks=LOOPBACK, enabled=False)
        errors = io.StringIO()
        with pytest.raises(CommandError, match="1 of 2 servers could not be asked") as failure:
            run("--all", errors=errors)
    assert failure.value.returncode == 1
    assert errors.getvalue().startswith("away: away cannot be reached")
    assert UpstreamItem.objects.filter(server__slug="here").exists()
    assert not UpstreamItem.objects.filter(server__slug="off").exists()
    assert UpstreamServer.objects.get(slug="away").last_discovery["ok"] is False


def test_unknown_server_is_named() -> None:
    errors = io.StringIO()
    with pytest.raises(CommandError, match="nobody could not be asked"):
        run("nobody", errors=errors)
    assert "There is no MCP server 'nobody'" in errors.getvalue()


@pytest.mark.parametrize("arguments", [(), ("trial", "--all")])
def test_servers_are_named_or_all_are_meant(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="Name the servers to ask, or give --all"):
        run(*arguments)


def test_nothing_to_ask_is_no_failure() -> None:
    assert run("--all") == "No MCP server is switched on.\n"
