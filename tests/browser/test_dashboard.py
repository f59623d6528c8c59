"""The front page of the admin, as a person sees and uses it."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Look, Visitor, visiting
from tests.processes import wait_until

FAILED = re.compile(r"Failed\s+(\d+)")
TWENTY_MINUTES = 20 * 60


@pytest.fixture(scope="module", autouse=True)
def calls(plane: Plane) -> None:
    """Some calls, in the request log: three that succeed, one of a tool that is not there."""
    for _ in range(3):
        assert plane.stack.call("server_metrics")[0] == 200
    status, refused = plane.stack.call("no_such_tool")
    assert status == 404
    assert refused["code"] == "TOOL_NOT_FOUND"


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.scheme}-{look.width}")
def test_everybody_can_use_it(plane: Plane, browser: Browser, look: Look) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/?range=15m")
        dark = page.evaluate("getComputedStyle(document.querySelector('.panel')).backgroundColor")
        assert (dark == "rgb(17, 24, 39)") is (look.scheme == "dark")
        page.get_by_text("The charts as a table").click()
        visitor.check()


def test_a_number_leads_to_its_calls_and_a_range_changes_the_charts(
    plane: Plane, operator: Visitor
) -> None:
    page = operator.page

    def led_to_as_many_calls() -> bool:
        operator.go("/admin/?range=15m")
        tile = page.locator("section[aria-label=Calls]").get_by_role("link", name=FAILED)
        told = FAILED.match(tile.inner_text())
        assert told
        tile.click()
        expect(page).to_have_title(re.compile("request"))
        return 0 < int(told[1]) == page.locator("#result_list tbody tr").count()

    # Figures are told a moment after the calls, and other tests call too.
    wait_until(led_to_as_many_calls, what="the failed calls on the dashboard")
    expect(page.locator("#result_list")).to_contain_text("no_such_tool")
    operator.go("/admin/?range=15m")
    before = bars_of_a_day()
    page.get_by_role("link", name="24h", exact=True).click()
    expect(page.get_by_role("link", name="24h", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    assert page.locator("figure svg").first.locator("a").count() in {before, bars_of_a_day()}
    assert operator.complaints == []


def bars_of_a_day() -> int:
    """Of twenty minutes each, the last one not over.

    A day begins at the nearest minute, so in the half minute before their turn it begins with a whole one.
    """
    until_the_turn = TWENTY_MINUTES - time.time() % TWENTY_MINUTES
    return 72 if until_the_turn <= 30 else 73


def test_what_runs_now_appears_without_a_reload(plane: Plane, operator: Visitor) -> None:
    plane.stack.add_tool("slow")
    page = operator.go("/admin/")
    expect(page.get_by_role("link", name="Running calls 0")).to_be_visible(timeout=20_000)
    begun = page.evaluate("performance.timeOrigin")
    page.evaluate(
        """() => { fetch("/call-tool", {method: "POST", headers: {"Content-Type": "application/json"},
        body: JSON.stringify({tool: "slow", arguments: {delay: 25}})}) }"""
    )
    expect(page.get_by_role("link", name="Running calls 1")).to_be_visible(timeout=20_000)
    assert page.evaluate("performance.timeOrigin") == begun
