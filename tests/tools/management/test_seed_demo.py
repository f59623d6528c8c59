"""`manage.py seed_demo`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from tests.factories import make_tool
from tools.conf import deployment
from tools.models import ApiClient

pytestmark = pytest.mark.django_db


def run() -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("seed_demo", stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def impossible_name(settings: Settings) -> Iterator[None]:
    overrides = {"SERVICE__NAME": "Not A Name"}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "SERVICE_OVERRIDES": overrides}
    deployment.cache_clear()
    yield
    deployment.cache_clear()


def test_key_is_printed_only_when_it_is_made() -> None:
    out, err = run()
    assert "created service mcp-control-plane" in out
    assert len(re.findall(r"cp_[A-Za-z0-9_-]{43}", out)) == 1
    assert err == ""
    assert run() == ("nothing to do\n", "")
    assert ApiClient.objects.count() == 1


def test_what_was_left_alone_is_told() -> None:
    make_tool(name="rag_metrics", source="http_api")
    _, err = run()
    assert err == "left alone: tool rag_metrics: the name is taken by a tool of source http_api\n"


def test_a_server_whose_command_is_not_allowed_is_left_out(settings: Settings) -> None:
    listed = {"other": {"command": ["true"]}}
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, "UPSTREAM_COMMANDS": listed}
    out, err = run()
    assert "created client demo" in out
    assert err == "left alone: MCP server todo: UPSTREAM_COMMANDS does not list todo-server\n"


@pytest.mark.usefixtures("impossible_name")
def test_name_no_service_can_have_is_told() -> None:
    with pytest.raises(CommandError, match="lower-case letters"):
        run()
