"""Calling a tool from the admin: the form of its arguments, the answer, and how it came about."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.factories import make_service, make_tool, tool_values
from tests.faults.backend import FakeBackend
from tests.processes import wait_until
from tests.second_web import second_web_process
from tests.tools.admin.pages import filled_in, text
from tests.tools.admin.trying import SCHEMA, page_of, press
from tools.conf import deployment
from tools.execution.background import background
from tools.execution.trials import find_trial
from tools.models import Tool

pytestmark = pytest.mark.usefixtures("calls_from_pages", "backend")

STOPS: dict[str, Any] = {
    "type": "array",
    "minItems": 2,
    "items": {
        "type": "object",
        "required": ["x", "where", "times"],
        "properties": {
            "x": {"type": "integer", "default": 7},
            "note": {"type": "string"},
            "where": {
                "type": "object",
                "required": ["country"],
                "properties": {"country": {"type": "string", "default": "CH"}},
            },
            "times": {"type": "array", "minItems": 2, "items": {"type": "string", "default": "8"}},
            "guide": {
                "type": "object",
                "properties": {"age": {"type": "integer", "default": 30}},
            },
        },
    },
}
STOP = {"x": 7, "where": {"country": "CH"}, "times": ["8", "8"]}
TOUR = {
    "type": "object",
    "required": ["stops"],
    "properties": {"stops": STOPS, "more": {**STOPS, "minItems": 0}},
}


def answer(response: Any) -> Any:
    """What the page shows as the answer of the call."""
    found = re.search(r'<pre id="answer"[^>]*>(.*?)</pre>', text(response), re.DOTALL)
    assert found, text(response)
    return json.loads(html.unescape(found[1]))


def arguments(response: Any) -> Any:
    """What reached the tool."""
    return answer(response)["data"]["echo"]


def test_the_form_has_a_control_for_every_kind_of_argument(admin_client: Client) -> None:
    shown = text(admin_client.get(page_of(make_tool(name="search", input_schema=SCHEMA))))
    assert 'name="a/limit" value="5"' in shown
    assert re.search(r'name="a/limit"[^>]*type="number"[^>]*min="1"[^>]*max="50"', shown)
    assert re.search(r'name="a/ratio"[^>]*step="0.5"', shown)
    assert re.search(r'<textarea id="a/query"[^>]*maxlength="500"', shown)
    assert re.search(r'<select id="a/order".*?Not set.*?near.*?far', shown, re.DOTALL)
    assert re.search(r'<select id="a/deep".*?Not set.*?true.*?false', shown, re.DOTALL)
    assert re.search(r'name="a/since"[^>]*type="date"', shown)
    assert re.search(r'<textarea id="a/either"', shown)
    assert re.search(r'name="a/maybe"[^>]*type="number"', shown)
    assert 'name="a/place/city" value="Bern"' in shown
    # Filled in it would be sent, and with it the whole group.
    assert 'name="a/owner/age" value=""' in shown
    assert "What to look for. At most 500 characters." in shown


def test_what_is_filled_in_is_sent_and_what_is_left_empty_is_not(admin_client: Client) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    filled: dict[str, Any] = {
        "a/query": "two\r\nlines",
        "a/order": "3",
        "a/deep": "false",
        "a/either": '["x"]',
        "rows:a/tags": ["0", "4"],
        "a/tags/0": "grün",
        "a/tags/4": "<b>",
    }
    assert "INVALID_ARGUMENTS" in text(press(admin_client, tool, **filled))
    page = press(admin_client, tool, **filled | {"a/either": '"x"'})
    assert arguments(page) == {
        "query": "two\nlines",
        "limit": 5,
        "order": 3,
        "deep": False,
        "tags": ["grün", "<b>"],
        "place": {"city": "Bern"},
        "either": "x",
        # The service fills in defaults by itself.
        "maybe": None,
    }
    # What was sent stays in the form.
    assert 'value="grün"' in text(page)
    assert "two\nlines</textarea>" in text(page)


def test_a_refused_argument_is_told_at_its_field(admin_client: Client) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    page = press(admin_client, tool, **{"a/query": "x", "a/place/city": "Bern", "a/limit": "99"})
    assert "Failed after" in text(page)
    assert re.search(r'id="a/limit-error"[^>]*>Expected a number of at most 50\.', text(page)), (
        text(page)
    )
    assert 'value="99"' in text(page)


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("a/limit", "many", "This is not a number."),
        ("a/limit", "NaN", "This is not a number."),
        ("a/either", '{"a": ', "Not valid JSON at line 1"),
        ("a/either", "[" * 100_000, "Not valid JSON"),
    ],
)
def test_what_is_no_value_at_all_is_not_sent(
    admin_client: Client, backend: FakeBackend, name: str, typed: str, told: str
) -> None:
    page = press(admin_client, make_tool(name="search", input_schema=SCHEMA), **{name: typed})
    assert told in text(page)
    assert "Nothing was run yet" in text(page)
    assert not backend.calls


def test_rows_come_and_go_without_a_script(admin_client: Client) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    rows = {"rows:a/tags": ["0", "1"], "a/tags/0": "first", "a/tags/1": "second"}
    page = text(press(admin_client, tool, "_add", "a/tags", **rows))
    assert 'name="a/tags/2"' in page
    assert 'value="second"' in page
    page = text(press(admin_client, tool, "_remove", "a/tags/0", **rows))
    assert 'value="first"' not in page
    assert 'value="second"' in page


def test_rows_that_are_required_are_there_with_their_defaults(admin_client: Client) -> None:
    page = press(admin_client, make_tool(name="tour", input_schema=TOUR))
    assert arguments(page) == {"stops": [STOP, STOP]}


def test_rows_that_are_added_begin_with_their_defaults(admin_client: Client) -> None:
    tool = make_tool(name="tour", input_schema=TOUR)
    shown = text(admin_client.get(page_of(tool)))
    (blank,) = re.findall(r'name="a/more/(__row\d__)/x" value="7"', shown)
    assert f'name="a/more/{blank}/where/country" value="CH"' in shown
    assert f'name="a/more/{blank}/times/1" value="8"' in shown
    # Filled in it would be sent, and with it the whole group.
    assert f'name="a/more/{blank}/guide/age" value=""' in shown
    # Without a script, too.
    added = press(admin_client, tool, "_add", "a/more")
    assert arguments(resent(admin_client, tool, added)) == {"stops": [STOP, STOP], "more": [STOP]}


def resent(client: Client, tool: Tool, page: Any) -> Any:
    """The form of a page, run as it is."""
    return client.post(page_of(tool), {**filled_in(page), "_run": "1"}, follow=True)


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [(0, 1), (1, 1), (3, 3), (10_000, 10), (-2, 1), ("many", 1), (None, 1)],
)
def test_a_list_begins_with_as_many_rows_as_it_asks_for_within_reason(
    admin_client: Client, wanted: Any, rows: int
) -> None:
    numbers = {"type": "array", "minItems": wanted, "items": {"type": "integer"}}
    tool = make_tool(name="sums")
    schema = {"type": "object", "required": ["n"], "properties": {"n": numbers}}
    Tool.objects.filter(pk=tool.pk).update(input_schema=schema)
    shown = text(admin_client.get(page_of(tool)))
    assert shown.count('name="rows:a/n"') == rows + 1
    assert 'name="a/n/0" value=""' in shown


def test_many_rows_of_many_arguments_begin_with_one(admin_client: Client) -> None:
    parts = {f"p{one}": {"type": "string", "default": "x"} for one in range(50)}
    many = {"type": "array", "minItems": 9, "items": {"type": "object", "properties": parts}}
    schema = {"type": "object", "required": ["rows"], "properties": {"rows": many}}
    shown = text(admin_client.get(page_of(make_tool(name="wide", input_schema=schema))))
    assert '<textarea id="arguments-json"' not in shown
    assert 'name="a/rows/0/p49" value="x"' in shown
    assert 'name="a/rows/1/p0"' not in shown


def test_arguments_can_be_edited_as_one_text_and_back(admin_client: Client) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    page = press(admin_client, tool, "_show", "json", **{"a/query": "sheep"})
    assert "&quot;query&quot;: &quot;sheep&quot;" in text(page)
    again = {"json": json.dumps({"query": "goats", "limit": 2, "place": {"city": "Ulm"}})}
    form = admin_client.post(page_of(tool), {**again, "_show": "form"})
    assert "goats</textarea>" in text(form)
    assert 'value="Ulm"' in text(form)
    odd = {"json": json.dumps({"query": 5, "more": [1]})}
    kept = text(admin_client.post(page_of(tool), {**odd, "_show": "form"}))
    assert "The form cannot hold these arguments" in kept
    ran = admin_client.post(
        page_of(tool),
        {"json": '{"query": "x", "limit": 1, "place": {"city": ""}, "also": 1}', "_run": "1"},
        follow=True,
    )
    assert arguments(ran)["also"] == 1


@pytest.mark.parametrize(
    "typed",
    [
        *("[1]", "nothing", '{"a": NaN}', '"text"', '{"a": "\\ud800"}'),
        '{"a": ' + "[" * 500 + "]" * 500 + "}",
    ],
)
def test_a_text_that_is_no_object_is_not_sent(
    admin_client: Client, backend: FakeBackend, typed: str
) -> None:
    page = admin_client.post(page_of(make_tool(name="plain")), {"json": typed, "_run": "1"})
    assert "arguments-json-error" in text(page)
    assert not backend.calls


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "object"}, "b": {}, "c": False}},
        {"type": "object", "additionalProperties": True, "properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {}},
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/loop"}},
            "$defs": {"loop": {"$ref": "#/$defs/loop"}},
        },
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/t"}},
            "$defs": {"t": {"$ref": "#"}},
        },
        {"type": "object", "properties": {"a/b ~c": {"type": ["string", "null"]}, "": True}},
        {
            "type": "object",
            "properties": {"n": {"type": "integer", "multipleOf": "x", "minimum": "y"}},
        },
        {"type": "object", "properties": {"e": {"enum": [{"a": 1}, [1]]}, "f": {"enum": []}}},
        # Each level has thirty times the fields of the one above.
        {
            "type": "object",
            "required": [f"p{one}" for one in range(30)],
            "properties": {f"p{one}": {"$ref": "#"} for one in range(30)},
        },
        {
            "type": "object",
            "properties": {
                f"p{one}": {"type": "array", "items": {"$ref": "#"}} for one in range(60)
            },
        },
    ],
)
def test_whatever_the_schema_there_is_a_page_that_runs_the_tool(
    admin_client: Client, schema: Any
) -> None:
    tool = make_tool(name="odd")
    # As rows that came another way than through the form.
    Tool.objects.filter(pk=tool.pk).update(input_schema=schema)
    assert admin_client.get(page_of(tool)).status_code == 200
    assert admin_client.post(page_of(tool), {"json": "{}", "_run": "1"}).status_code == 302
    assert admin_client.post(page_of(tool), {"json": "{}", "_code": "1"}).status_code == 200


def test_more_than_a_form_can_hold_is_edited_as_json(admin_client: Client) -> None:
    tool = make_tool(name="search", input_schema=SCHEMA)
    many = {"query": "x", "limit": 1, "place": {"city": "x"}, "tags": ["x"] * 900}
    Tool.objects.filter(pk=tool.pk).update(input_schema={**SCHEMA, "additionalProperties": False})
    page = admin_client.post(page_of(tool), {"json": json.dumps(many), "_show": "form"})
    assert "The form cannot hold these arguments" in text(page)
    data = {"rows:a/tags": ["9" * 5000, "x", "\u0663", "0"], "a/tags/0": "kept", "_add": "a/tags"}
    shown = text(admin_client.post(page_of(tool), data))
    assert 'value="kept"' in shown
    assert 'name="a/tags/1"' in shown
    rows = {"rows:a/tags": [str(number) for number in range(2500)]}
    assert "The form has too many rows" in text(admin_client.post(page_of(tool), rows))


def test_the_cache_is_passed_over_where_that_is_ticked(
    admin_client: Client, backend: FakeBackend
) -> None:
    tool = make_tool(name="echo", cache_ttl_seconds=60)
    assert "_fresh" not in filled_in(admin_client.get(page_of(tool)))
    press(admin_client, tool)
    page = press(admin_client, tool, _fresh="1")
    assert "Passed over: it was neither asked nor given the answer." in text(page)
    assert backend.calls == {"echo": 2}
    # It stays ticked, also when the form is only changed; others get the answer of before.
    assert filled_in(page)["_fresh"] == "1"
    shown = press(admin_client, tool, button="_show", value="json", _fresh="1")
    assert filled_in(shown)["_fresh"] == "1"
    assert "Hit: the answer was taken" in text(press(admin_client, tool))
    assert backend.calls == {"echo": 2}


def test_a_tool_without_a_cache_time_has_no_cache_to_pass_over(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    assert "Do not use the cache" not in text(admin_client.get(page_of(tool)))


def test_the_result_tells_what_was_decided_on_the_way(admin_client: Client) -> None:
    tool = make_tool(
        name="echo", cache_ttl_seconds=60, dependency="weather", requires_context_management=True
    )
    make_service(security_api_keys_enabled=True)
    for cache in ("Miss: the backend was called", "Hit: the answer was taken"):
        page = text(
            admin_client.post(page_of(tool), {"json": '{"n": "é"}', "_run": "1"}, follow=True)
        )
        assert "Succeeded in" in page
        assert cache in page
    assert "Not asked: the backend was not called." in page
    assert "Time by stage" in page
    assert "passed whole" in page
    assert "The row of this call" in page
    assert "curl -s http://testserver/call-tool" in page
    assert "import urllib.request" in page
    assert "tools/call" in page
    assert "$CONTROL_PLANE_API_KEY" in page or "X-API-Key" in page


def test_a_failure_is_told_in_words_without_its_cause(admin_client: Client) -> None:
    tool = make_tool(name="echo")
    for fail, told in (("execution", "the tool failed on command"), ("bug", "INTERNAL_ERROR")):
        data = {"json": json.dumps({"fail": fail}), "_run": "1"}
        page = text(admin_client.post(page_of(tool), data, follow=True))
        assert "Failed after" in page
        assert told in page
        assert "hunter2" not in page


def test_a_long_call_shows_how_far_it_is_and_can_be_cancelled(
    admin_client: Client, backend: FakeBackend
) -> None:
    tool = make_tool(name="slow", timeout_seconds=60)
    data = {"json": '{"delay": 50, "reports": "half way"}', "_run": "1"}
    page = admin_client.post(page_of(tool), data, follow=True)
    address = page.redirect_chain[-1][0].partition("#")[0]
    assert 'data-busy="yes"' in text(page)
    assert "half way" in text(page)
    assert 'aria-valuenow="50"' in text(page)
    assert "1 of 2: half way" in text(admin_client.get(f"{address}progress/"))
    ended = text(admin_client.post(f"{address}cancel/", follow=True))
    assert "Cancelled after" in ended
    assert "The row of this call" in ended
    assert backend.cancelled == 1
    assert "Nothing to cancel" in text(admin_client.post(f"{address}cancel/", follow=True))
    assert admin_client.get(f"{address}cancel/").status_code == 405


def test_a_trial_is_shown_to_nobody_else(admin_client: Client, client: Client) -> None:
    tool = make_tool(name="echo")
    data = {"json": '{"mine": "only"}', "_run": "1"}
    address = admin_client.post(page_of(tool), data).headers["Location"].partition("#")[0]
    other = User.objects.create_superuser("eve", password="x")
    client.force_login(other)
    assert "This trial is not known" in text(client.get(address))
    assert "only" not in text(client.get(f"{address}progress/"))
    wrong = make_tool(name="other")
    trial = address.rstrip("/").rpartition("/")[2]
    assert (
        admin_client.get(reverse("admin:tools_tool_trial", args=[wrong.pk, trial])).status_code
        == 404
    )


def test_who_may_only_look_runs_nothing(client: Client, backend: FakeBackend) -> None:
    tool = make_tool(name="echo")
    viewer = User.objects.create_user("vi", is_staff=True)
    viewer.user_permissions.add(*Permission.objects.filter(codename__startswith="view_"))
    client.force_login(viewer)
    assert client.get(page_of(tool)).status_code == 403
    assert client.post(page_of(tool), {"json": "{}", "_run": "1"}).status_code == 403
    assert client.get(reverse("admin:tools_tool_choose")).status_code == 403
    assert "Try it" not in text(client.get(reverse("admin:tools_tool_change", args=[tool.pk])))
    assert not backend.calls
    viewer.user_permissions.add(Permission.objects.get(codename="change_tool"))
    shown = text(client.get(reverse("admin:tools_tool_change", args=[tool.pk])))
    assert "Try it" in shown
    assert client.get(page_of(tool)).status_code == 200


def test_a_tool_can_be_found_to_be_tried(admin_client: Client) -> None:
    make_tool(name="search_farms")
    make_tool(name="off", enabled=False)
    Tool.objects.bulk_create(Tool(**tool_values(name=f"tool_{one:02}")) for one in range(55))
    page = text(admin_client.get(reverse("admin:tools_tool_choose")))
    assert "search_farms" in page
    assert "These are the first 50" in page
    found = text(admin_client.get(reverse("admin:tools_tool_choose"), {"q": "tool_54"}))
    assert "tool_54" in found
    assert "search_farms" not in found
    assert "No tool that is switched on" in text(
        admin_client.get(reverse("admin:tools_tool_choose"), {"q": "\x00%' nothing"})
    )


def test_with_redis_away_a_call_is_made_and_the_page_says_what_is_not_possible(
    admin_client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nowhere.sock"
    deployment.cache_clear()
    tool = make_tool(name="echo")
    try:
        page = admin_client.post(page_of(tool), {"json": '{"n": 1}', "_run": "1"}, follow=True)
        assert "Succeeded in" in text(page)
        unknown = [tool.pk, "0d1f6a52-6c5f-4b0e-9d92-3b1f0a6a7c11"]
        shown = text(admin_client.get(reverse("admin:tools_tool_trial", args=unknown)))
        assert "Redis cannot be reached" in shown
        # So does who opens it only now.
        where = reverse("admin:tools_tool_progress", args=unknown)
        region = re.search(rf'<div data-follow="{where}".*?</section>', shown, re.DOTALL)
        assert region, shown
        assert 'data-busy="yes"' in region[0]
        assert "Redis cannot be reached" in region[0]
        # Who has the page open sees the trial again when Redis is back.
        part = text(admin_client.get(reverse("admin:tools_tool_progress", args=unknown)))
        assert "Redis cannot be reached" in part
        assert 'data-busy="yes"' in part
    finally:
        background.close()
        deployment.cache_clear()


def test_a_trial_whose_process_stopped_is_told_as_lost(
    admin_client: Client, backend: FakeBackend
) -> None:
    tool = make_tool(name="slow", timeout_seconds=60)
    data = {"json": '{"delay": 50}', "_run": "1"}
    address = admin_client.post(page_of(tool), data).headers["Location"].partition("#")[0]
    wait_until(lambda: bool(backend.calls), what="a running call")
    background.close()
    page = text(admin_client.get(address))
    assert "Lost: the process that ran it has stopped" in page
    trial = find_trial(address.rstrip("/").rpartition("/")[2], "admin")
    assert trial is not None
    assert not trial.running


def test_another_web_process_shows_a_trial_and_ends_it(
    admin_client: Client, backend: FakeBackend, tmp_path: Path
) -> None:
    tool = make_tool(name="slow", timeout_seconds=60)
    data = {"json": '{"delay": 50, "reports": "half way"}', "_run": "1"}
    session = {"sessionid": admin_client.cookies["sessionid"].value}
    with (
        second_web_process(tmp_path / "web.log") as url,
        httpx2.Client(base_url=url, cookies=session, headers={"Referer": url}) as elsewhere,
    ):
        address = admin_client.post(page_of(tool), data).headers["Location"].partition("#")[0]
        wait_until(lambda: "half way" in elsewhere.get(address).text, what="its progress")
        token = {"csrfmiddlewaretoken": elsewhere.cookies["csrftoken"]}
        assert elsewhere.post(f"{address}cancel/").status_code == 403
        assert elsewhere.post(f"{address}cancel/", data=token).status_code == 302
        wait_until(lambda: backend.cancelled == 1, what="the end of the call")
        wait_until(lambda: "Cancelled after" in elsewhere.get(address).text, what="its end there")
