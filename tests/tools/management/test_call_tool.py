"""`manage.py call_tool`."""

from __future__ import annotations

import io
import json

import pytest
import redis
from django.core.management import CommandError, call_command

from tests.factories import make_tool
from tests.faults.backend import FakeBackend
from tools.models import ToolRequest

pytestmark = pytest.mark.django_db(transaction=True)


def journalled(redis_url: str) -> list[dict[str, object]]:
    with redis.Redis.from_url(redis_url) as client:
        return [json.loads(fields[b"e"]) for _, fields in client.xrange("cp:journal")]


def test_call_tool_prints_the_envelope_and_is_journalled(
    redis_url: str, backend: FakeBackend
) -> None:
    make_tool(name="echo")
    out = io.StringIO()
    call_command("call_tool", "echo", '{"a": 1}', stdout=out)
    body = json.loads(out.getvalue())
    assert body["data"] == {"echo": {"a": 1}}
    events = journalled(redis_url)
    assert [event["kind"] for event in events] == ["open", "close"]
    assert {event["transport"] for event in events} == {"cli"}
    assert str(events[0]["caller"]).startswith("local:")


def test_call_tool_fails_with_the_code_of_the_call(redis_url: str, backend: FakeBackend) -> None:
    with pytest.raises(CommandError, match="TOOL_NOT_FOUND: Tool not found: missing"):
        call_command("call_tool", "missing", stdout=io.StringIO())


@pytest.mark.parametrize("arguments", ["{", "[]", "5"])
def test_call_tool_refuses_arguments_that_are_no_object(redis_url: str, arguments: str) -> None:
    with pytest.raises(CommandError, match="JSON"):
        call_command("call_tool", "echo", arguments)
    assert not ToolRequest.objects.exists()
