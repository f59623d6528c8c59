"""Trying a tool and replaying a call, as a person does it."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Plane, paused
from tests.browser.visitor import DARK_NARROW, LIGHT_WIDE, Look, Visitor, seen_in, visiting
from tests.processes import wait_until

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["query", "place"],
    "properties": {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
        "order": {"enum": ["near", "far"]},
        "deep": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "required": ["city"],
            "properties": {
                "city": {"type": "string"},
                "streets": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["lanes"],
                        "properties": {
                            "name": {"type": "string"},
                            "lanes": {"type": "integer", "default": 2},
                        },
                    },
                },
            },
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    },
}
SLOW: Final = {
    "type": "object",
    "properties": {"delay": {"type": "number"}, "reports": {"type": "string"}},
}


@pytest.fixture(scope="module", autouse=True)
def tools(plane: Plane) -> None:
    """A tool with arguments of many kinds, one that takes its time, and one that is cached."""
    rows = [("try_form", SCHEMA, None), ("try_slow", SLOW, None), ("try_cached", SLOW, 600)]
    code = (
        "import json; from tools.models import Tool\n"
        f"for name, schema, ttl in json.loads({json.dumps(rows)!r}):\n"
        "    Tool(name=name, description='To be tried.', input_schema=schema, source='http_api',"
        " handler='echo', timeout_seconds=60, cache_ttl_seconds=ttl).save()"
    )
    made = plane.stack.manage("shell", "-c", code)
    assert made.returncode == 0, made.stderr
    wait_until(lambda: plane.stack.call("try_slow")[0] == 200, what="the new tools")


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_a_tool_is_called_past_its_cache(plane: Plane, browser: Browser, look: Look) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/tools/tool/try/?q=try_cached")
        page.get_by_role("link", name="try_cached").click()
        box, result = page.get_by_label("Do not use the cache"), page.locator("#result")
        expect(box).not_to_be_checked()
        box.check()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(result).to_contain_text("Passed over: it was neither asked nor given the answer.")
        expect(box).to_be_checked()
        visitor.check()


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_a_tool_is_called_from_a_form_and_the_call_replayed(
    plane: Plane, browser: Browser, look: Look
) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/tools/tool/try/?q=try_form")
        visitor.check()
        page.get_by_role("link", name="try_form").click()
        page.get_by_label("query").fill("sheep & goats")
        expect(page.get_by_label("limit")).to_have_value("5")
        page.get_by_label("order").select_option("far")
        page.get_by_label("deep").select_option("false")
        page.get_by_role("button", name="Add a row to tags").click()
        page.keyboard.type("first")
        page.get_by_role("button", name="Add a row to tags").click()
        page.keyboard.type("second")
        page.get_by_role("button", name="Remove this row of tags").first.click()
        page.get_by_label("city").fill("Ulm")
        page.get_by_role("button", name="Add a row to streets").click()
        page.keyboard.type("Long Lane")
        expect(page.get_by_label("lanes")).to_have_value("2")
        page.get_by_label("either").fill('"text"')
        visitor.check()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.locator("#result")).to_contain_text("Succeeded in")
        shown = json.loads(page.locator("#answer").inner_text())
        assert shown["data"]["echo"] == {
            "query": "sheep & goats",
            "limit": 5,
            "order": "far",
            "deep": False,
            "tags": ["second"],
            "place": {"city": "Ulm", "streets": [{"name": "Long Lane", "lanes": 2}]},
            "either": "text",
        }
        expect(page.get_by_label("query")).to_have_value("sheep & goats")
        result = page.locator("#result")
        expect(result.get_by_role("table", name="Time by stage")).to_contain_text("Backend")
        expect(result).to_contain_text("Not used: the tool has no cache time.")
        visitor.check()
        copied(visitor, shown)
        page.get_by_role("button", name="Edit as JSON").click()
        expect(page.get_by_label("All arguments as JSON")).to_have_value(
            re.compile('"sheep & goats"')
        )
        page.go_back()
        replay(visitor, look)


def copied(visitor: Visitor, answered: dict[str, Any]) -> None:
    """What the page shows for a terminal, as it lies on the clipboard, makes the same call."""
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator("[data-copy=call-curl]")
    button.click()
    expect(button).to_have_text("Copied")
    pasted = page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run(
        ["bash", "-c", pasted],  # noqa: S607 - wherever the system has it
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["data"]["echo"] == answered["data"]["echo"]


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_answers_that_differ_are_shown_line_by_line(
    plane: Plane, browser: Browser, look: Look
) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/tools/tool/try/?q=create_todo")
        page.get_by_role("link", name="create_todo", exact=True).click()
        # Each todo has a number of its own.
        page.get_by_label("title").first.fill("Water the plants")
        page.get_by_role("button", name="Run", exact=True).click()
        visitor.go(logged(visitor).replace("/change/", "/replay/"))
        page.get_by_role("button", name="Replay now").click()
        lines = page.get_by_role("table", name="The answers line by line")
        expect(lines.locator("del").first).to_be_visible()
        expect(lines.locator("ins").first).to_be_visible()
        visitor.check()


def logged(visitor: Visitor) -> str:
    """Where the row of the call is, once it is written."""
    link = visitor.page.get_by_role("link", name="The row of this call")
    row = str(link.get_attribute("href"))
    wait_until(
        # Whoever asks for a row that is not there is sent to the front page.
        lambda: visitor.page.request.get(visitor.url + row, max_redirects=0).status == 200,
        what="the row of the call",
    )
    return row


def replay(visitor: Visitor, look: Look) -> None:
    page, row = visitor.page, logged(visitor)
    if look.width == LIGHT_WIDE.width:
        page.get_by_role("link", name="The row of this call").click()
        page.get_by_role("link", name="Replay", exact=True).click()
    else:
        # Where it is narrow, the theme folds the buttons of a page into a menu.
        visitor.go(row.replace("/change/", "/replay/"))
    page.get_by_role("button", name="Replay now").click()
    expect(page.locator("body")).to_contain_text("Both answers are the same.")
    visitor.check()


def test_a_long_call_shows_its_progress_and_can_be_cancelled(operator: Visitor) -> None:
    page = operator.go("/admin/tools/tool/try/?q=try_slow")
    page.get_by_role("link", name="try_slow").click()
    page.get_by_label("delay").fill("50")
    page.get_by_label("reports").fill("half way")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("progressbar", name="Progress of the call")).to_be_visible()
    expect(page.locator("#result")).to_contain_text("1 of 2: half way")
    operator.check_in_every_look()
    page.reload()
    expect(page.locator("#result")).to_contain_text("half way")
    page.get_by_role("button", name="Cancel the call").click()
    expect(page.locator("#result")).to_contain_text("Cancelled after")
    operator.check_in_every_look()
    expect(page.get_by_label("delay")).to_have_value("50")
    # A call that ends while somebody looks is shown without their doing.
    page.get_by_label("delay").fill("2")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#result")).to_contain_text("Running…")
    expect(page.locator("#result")).to_contain_text("Succeeded in")
    assert operator.complaints == []


def test_a_trial_that_was_opened_while_redis_is_away_comes_back_by_itself(
    plane: Plane, operator: Visitor
) -> None:
    page = operator.go("/admin/tools/tool/try/?q=try_slow")
    page.get_by_role("link", name="try_slow").click()
    page.get_by_role("button", name="Show as code").click()
    result = page.locator("#result")
    expect(result).to_contain_text("Nothing was run. This is the call with these arguments:")
    operator.check_in_every_look()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(result).to_contain_text("Succeeded in")
    expect(result).to_contain_text("tokens, no budget")
    with paused(plane.stack.processes()["redis"].pid):
        page.reload()
        expect(result).to_contain_text("Redis cannot be reached", timeout=20_000)
        operator.check_in_every_look()
    expect(result).to_contain_text("Succeeded in", timeout=20_000)
    assert operator.complaints == []
