"""A call as code that nobody made, and the tokens of an answer that no budget counted."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.test import Client

from tests.factories import make_service, make_tool
from tests.faults.backend import FakeBackend
from tests.tools.admin.pages import text
from tests.tools.admin.trying import SCHEMA, page_of, press
from tools.context.tokens import count_json

pytestmark = pytest.mark.usefixtures("calls_from_pages", "backend")


@pytest.mark.parametrize("as_text", [False, True])
def test_the_call_is_shown_as_code_without_being_made(
    admin_client: Client, backend: FakeBackend, as_text: bool
) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    make_service(security_api_keys_enabled=True)
    if as_text:
        written = {"query": "sheep", "limit": 7, "place": {"city": "Ulm"}}
        page = admin_client.post(page_of(tool), {"json": json.dumps(written), "_code": "1"})
    else:
        filled = {"a/query": "sheep", "a/limit": "7", "a/place/city": "Ulm"}
        page = press(admin_client, tool, "_code", **filled)
    shown = html.unescape(text(page))
    assert not backend.calls
    assert "Nothing was run. This is the call with these arguments:" in shown
    for name, part in (
        ("curl", "curl -s http://testserver/call-tool"),
        ("python", "import urllib.request"),
        ("mcp", "tools/call"),
    ):
        (code,) = re.findall(rf'<pre id="call-{name}"[^>]*>(.*?)</pre>', shown, re.DOTALL)
        assert part in code
        assert "sheep" in code
        assert "Ulm" in code
    assert "export CONTROL_PLANE_KEY=" in shown
    # What was filled in is still there, to be run.
    assert "sheep" in next(iter(re.findall(r"<textarea.*?</textarea>", shown, re.DOTALL)))


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("a/limit", "many", "This is not a number."),
        ("a/limit", "99", "Expected a number of at most 50."),
        ("a/place/zip", "1.5", "Expected integer."),
        ("a/either", '{"a": ', "Not valid JSON at line 1"),
    ],
)
def test_a_call_that_would_be_refused_is_no_code_and_is_told_as_running_tells_it(
    admin_client: Client, backend: FakeBackend, name: str, typed: str, told: str
) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    filled = {"a/query": "x", "a/place/city": "Bern", name: typed}

    def told_at_fields(button: str) -> list[str]:
        page = text(press(admin_client, tool, button, **filled))
        assert button == "_run" or "call-curl" not in page
        return re.findall(r'<p id="(a/[^"]*-error)"[^>]*>([^<]*)</p>', page)

    as_code = told_at_fields("_code")
    assert not backend.calls
    assert told in as_code[0][1]
    assert told_at_fields("_run") == as_code


def test_a_refused_row_is_pointed_out_though_one_before_it_was_removed(
    admin_client: Client,
) -> None:
    least = {"type": "integer", "minimum": 5}
    ages = {"type": "array", "items": {"type": "object", "properties": {"age": least}}}
    tool = make_tool(input_schema={"type": "object", "properties": {"ages": ages}})
    # The second and the third row that were added.
    rows = {"rows:a/ages": ["1", "2"], "a/ages/1/age": "7", "a/ages/2/age": "3"}
    shown = text(admin_client.post(page_of(tool), {**rows, "_code": "1"}))
    assert "This call would be refused" in shown
    assert re.findall(r'<p id="([^"]*)-error"', shown) == ["a/ages/2/age"]


def test_a_text_that_would_be_refused_says_why(admin_client: Client) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    text_of = json.dumps({"query": "x", "limit": 99, "place": {"city": "Ulm"}})
    shown = text(admin_client.post(page_of(tool), {"json": text_of, "_code": "1"}))
    assert "This call would be refused, so there is no code of it. limit:" in shown
    assert "call-curl" not in shown


@pytest.mark.parametrize(
    ("argument", "exact"),
    [
        ({"result": "The farm has three sheep and a goat. " * 40}, True),
        # Shown whole, and longer than what is counted.
        ({"result": "The farm has three sheep. " * 8_000}, False),
        # Shown by its beginning.
        ({"result": "The farm has three sheep. " * 38_900}, False),
    ],
)
def test_tokens_of_a_tool_without_a_budget_are_counted_for_the_page(
    admin_client: Client, argument: dict[str, str], exact: bool
) -> None:
    tool = make_tool(name="echo", requires_context_management=False)
    data = {"json": json.dumps(argument), "_run": "1"}
    page = text(admin_client.post(page_of(tool), data, follow=True))
    assert "Succeeded in" in page
    told = re.search(r"<dt>Tokens</dt><dd>(About )?([\d,]+) tokens, no budget</dd>", page)
    assert told, re.findall(r"<dt>Tokens</dt><dd>.*?</dd>", page)
    assert (told[1] is None) is exact
    number = int(told[2].replace(",", ""))
    assert number == pytest.approx(count_json(argument["result"]), rel=0.02, abs=10)
