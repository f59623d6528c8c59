"""`manage.py seed_nsip`."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_tool
from tools.models import ApiOperation, ApiService, Tool
from tools.services.tool_status import ToolStatus, index_faults, tool_status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def run(*arguments: str) -> str:
    told = io.StringIO()
    call_command("seed_nsip", *arguments, stdout=told)
    return told.getvalue()


def test_tools_are_made_once_and_off_until_switched_on() -> None:
    # F4-01
    told = run()
    assert sum(line.startswith("created nsip_") for line in told.splitlines()) == 9
    assert "Agents do not see them yet" in told
    assert ApiService.objects.get().enabled is False
    tool = Tool.objects.get(name="nsip_get_animal")
    assert tool_status(tool) is ToolStatus.UNAVAILABLE
    assert "is switched off" in index_faults(tool)[0]


def test_what_an_operator_changed_stays() -> None:
    run()
    Tool.objects.filter(name="nsip_get_animal").update(title="Our own title")
    ApiOperation.objects.get(tool__name="nsip_get_statuses").delete()
    told = run("--enable", "--base-url", "https://nsip.example/api")
    assert told == "created nsip_get_statuses\n"
    assert Tool.objects.get(name="nsip_get_animal").title == "Our own title"
    service = ApiService.objects.get()
    assert (service.enabled, service.base_url) == (True, "https://nsip.example/api")
    assert tool_status(Tool.objects.get(name="nsip_get_animal")) is ToolStatus.HEALTHY
    assert run() == "All nine tools are there.\n"


def test_what_cannot_be_is_told_and_nothing_made() -> None:
    make_tool(name="nsip_list_breeds")
    with pytest.raises(CommandError, match="already exists"):
        run()
    assert ApiService.objects.count() == 0
    with pytest.raises(CommandError, match="Must start with https"):
        run("--base-url", "nsip.example")
