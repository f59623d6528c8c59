"""The request log as a person uses it: filter, page on and back, read the life of a call, take a file away."""

from __future__ import annotations

import csv
import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import Plane
from tests.browser.keys import let_in
from tests.browser.visitor import DARK_NARROW, LIGHT_WIDE, Look, Visitor, seen_in, visiting
from tests.processes import wait_until

LOG = "/admin/tools/toolrequest/"
CALLS = 53
VARIOUS = "log_various"
# A filter's label, what is typed or chosen, and how many of the various calls it leaves.
FILTERS = (
    ("Text", "needle", 2),
    ("Caller", "Sorter", 2),
    ("Code", "EXECUTION_ERROR", 1),
    ("Time", "last 15 minutes", 4),
    ("From (UTC)", "2020-01-01T00:00", 4),
    ("Until before (UTC)", "2020-01-01T00:00", 0),
    ("At least, ms", "400", 1),
    ("At most, ms", "399", 3),
    ("Cache", "hit", 1),
    ("Transport", "rest", 4),
    ("Transport", "websocket", 0),
)
# Two calls of a client with a long name, one of which failed.
WORDY = """
from tests.factories import make_client
from tests.tools.log_rows import failed, record
client, _ = make_client(name="Chat agent of the support team")
made = {"tool_id": "log_wordy", "caller": f"client:{client.pk}", "transport": "streamable_http"}
record(**made)
failed("INVALID_ARGUMENTS", error="limit: ten is no integer, which is a long way to say it", **made)
"""

# Of long ago, so that no other list has them at its beginning.
HAYSTACK = """
from datetime import timedelta
from tests.tools.log_rows import NOW, record, row
from tools.models import ToolRequest
made = {"tool_id": "log_hay", "parameters": {}, "query_text": ""}
ToolRequest.objects.bulk_create(
    (row(**made, received_at=NOW + timedelta(seconds=place)) for place in range(45_000)), batch_size=500
)
record(**{**made, "query_text": "rare-needle"}, received_at=NOW - timedelta(days=1))
"""
HAY = f"{LOG}?tool__exact=log_hay&text=rare-needle"
PATIENCE = 60_000
STEP = re.compile("part=")


@pytest.fixture(scope="module", autouse=True)
def calls(plane: Plane, browser: Browser) -> None:
    """More calls than fit on a page, and one of a tool that is not there."""
    assert plane.stack.call("log_not_there")[0] == 404
    for _ in range(CALLS):
        assert plane.stack.call("server_metrics")[0] == 200
    with visiting(browser, plane.url) as visitor:
        visitor.log_in(plane.password)

        def logged() -> bool:
            visitor.go(f"{LOG}?q=log_not_there")
            return visitor.page.locator("#result_list tbody tr").count() == 1

        wait_until(logged, what="the calls in the log")


def test_calls_are_filtered_paged_and_exported(plane: Plane, operator: Visitor) -> None:
    page = operator.go(LOG)
    rows = page.locator("#result_list tbody tr")
    page.get_by_label("Tool", exact=True).fill("server_metrics")
    page.get_by_label("Status", exact=True).select_option("success")
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(50)
    newest = rows.first.inner_text()
    page.get_by_role("link", name="Older").first.click()
    expect(page.get_by_role("link", name="Newest").first).to_be_visible()
    expect(rows.first).not_to_have_text(newest)
    page.get_by_role("link", name="Newer").first.click()
    expect(rows).to_have_count(50)
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as started:
        page.get_by_role("button", name="CSV").click()
    with started.value.path().open(newline="", encoding="utf-8-sig") as file:
        exported = list(csv.DictReader(file))
    assert len(exported) >= CALLS
    assert {one["tool"] for one in exported} == {"server_metrics"}
    page.get_by_label("Remove the filter Tool").click()
    expect(page).to_have_url(re.compile(r"\?status__in=success$"))
    assert operator.complaints == []


@pytest.fixture(scope="module")
def various(plane: Plane, browser: Browser) -> None:
    """Four calls of one tool: of two callers, quick and slow, one from the cache, one that failed."""
    code = (
        "from tests.factories import make_tool\n"
        f"make_tool(name={VARIOUS!r}, source='http_api', cache_ttl_seconds=600,"
        " input_schema={'type': 'object', 'properties': {}})"
    )
    made = plane.stack.manage("shell", "--no-imports", "-c", code)
    assert made.returncode == 0, made.stderr
    with visiting(browser, plane.url) as visitor:
        visitor.log_in(plane.password)
        agent = let_in(visitor, "Sorter", "all")
        wait_until(lambda: VARIOUS in agent.tools(), what="the new tool")
        assert agent.call(VARIOUS, note="needle in the hay").status == 200
        assert plane.stack.call(VARIOUS, note="cold", delay=0.4)[0] == 200
        assert plane.stack.call(VARIOUS, fail="execution")[1]["code"] == "EXECUTION_ERROR"
        again = agent.call(VARIOUS, note="needle in the hay").json()
        assert again["meta"]["cache_hit"] is True

        def logged() -> bool:
            page = visitor.go(f"{LOG}?tool__exact={VARIOUS}")
            return page.locator("#result_list tbody tr").count() == 4

        wait_until(logged, what="the calls in the log")


def test_each_filter_leaves_the_calls_it_asks_for(various: None, operator: Visitor) -> None:
    for label, value, rows in FILTERS:
        page = operator.go(f"{LOG}?tool__exact={VARIOUS}")
        page.get_by_text("More filters", exact=True).click()
        field = page.get_by_label(label, exact=True)
        if field.evaluate("(one) => one.tagName") == "SELECT":
            field.select_option(label=value)
        else:
            field.fill(value)
        page.get_by_role("button", name="Filter").click()
        told = page.get_by_role("list", name="Filters that are set").get_by_role("listitem")
        expect(told, label).to_have_count(2)
        expect(page.locator("#result_list tbody tr"), label).to_have_count(rows)
        if not rows:
            expect(page.get_by_text("No call matches.")).to_be_visible()
    assert operator.complaints == []


def test_a_name_and_an_address_stay_whole_beside_a_long_reason(
    plane: Plane, operator: Visitor
) -> None:
    # As long as the longest name of the demo.
    tool = "rag_iris_global_graphmap"
    assert plane.stack.call(tool)[0] == 404

    def logged() -> bool:
        operator.go(f"{LOG}?tool__exact={tool}")
        return operator.page.locator("#result_list tbody tr").count() == 1

    wait_until(logged, what="the call in the log")
    for text in (tool, "address:127.0.0.1"):
        link = operator.page.get_by_role("link", name=text, exact=True).last
        assert link.evaluate("(one) => one.getClientRects().length") == 1, text
    wide = operator.page.locator(".log-list")
    assert wide.evaluate("(one) => one.scrollWidth - one.clientWidth") == 0
    assert operator.complaints == []


def test_an_error_in_the_list_leaves_room_for_names(plane: Plane, operator: Visitor) -> None:
    made = plane.stack.manage("shell", "--no-imports", "-c", WORDY)
    assert made.returncode == 0, made.stderr
    page = operator.go(f"{LOG}?tool__exact=log_wordy")
    expect(page.locator("#result_list small")).to_contain_text("a long way to say")
    caller = page.locator("#result_list").get_by_role("link", name="Chat agent").first
    lines = caller.evaluate("(one) => one.getClientRects().length")
    assert 1 <= lines <= 3


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_calls_that_come_in_appear_in_a_list_that_is_renewed(
    plane: Plane, browser: Browser, look: Look
) -> None:
    tool = f"log_later_{look.scheme}_{look.width}"
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        visitor.page.clock.install()
        page = visitor.go(f"{LOG}?tool__exact={tool}")
        page.get_by_role("link", name="Renew every 5 seconds").click()
        expect(page.get_by_text("No call matches.")).to_be_visible()
        assert plane.stack.call(tool)[0] == 404
        row = page.locator("#result_list tbody tr")

        def appeared() -> bool:
            page.clock.fast_forward(6_000)
            # It may be seen while it is under way, too.
            return row.filter(has_text="TOOL_NOT_FOUND").count() == 1

        wait_until(appeared, what="the call in the list")
        visitor.check()
        page.get_by_role("link", name="Stop renewing").click()
        expect(page.get_by_role("link", name="Renew every 5 seconds")).to_be_visible()


@pytest.fixture(scope="module")
def haystack(plane: Plane) -> None:
    """More calls than are looked through at once, of which only the oldest has a text."""
    made = plane.stack.manage("shell", "--no-imports", "-c", HAYSTACK)
    assert made.returncode == 0, made.stderr


class Steps:
    """The steps of a search, held back until they are let go."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._held: list[Route] = []
        self._free = False
        page.route(STEP, self._take)

    def _take(self, route: Route) -> None:
        if self._free:
            route.continue_()
        else:
            self._held.append(route)

    def one(self) -> Route:
        """The step that is held back, once it is asked for."""
        # Nothing of the browser is heard but while it is asked something.
        wait_until(
            lambda: self._page.evaluate("true") and bool(self._held), what="a step of the search"
        )
        return self._held.pop()

    def none_waits(self) -> bool:
        return self._page.evaluate("true") and not self._held

    def let_go(self) -> None:
        """This one and all that follow."""
        first = self.one()
        self._free = True
        first.continue_()


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_a_text_that_only_the_oldest_call_has_is_found_without_a_click(
    haystack: None, plane: Plane, browser: Browser, look: Look
) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        page = visitor.page
        steps = Steps(page)
        visitor.go(HAY)
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        expect(page.get_by_text("No call yet matches.")).to_be_visible()
        visitor.check()
        steps.let_go()
        expect(page.locator("#result_list tbody tr")).to_have_count(1, timeout=PATIENCE)
        expect(page.locator(".log-note [role=status]")).to_have_text(
            "The search is done: 1 call found here."
        )
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        expect(page.get_by_role("link", name="Look further back")).to_have_count(0)
        visitor.check()
        # Who comes back finds the call again, and need not search all the way.
        expect(page).to_have_url(re.compile("before="))
        page.locator("#result_list tbody tr").get_by_role("link").first.click()
        expect(page.get_by_role("heading", name="Life of the call")).to_be_visible()
        page.go_back()
        expect(page.locator("#result_list tbody tr")).to_have_count(1)
        expect(page).to_have_url(re.compile("text=rare-needle"))


def test_a_search_stops_and_goes_on_by_keyboard(haystack: None, operator: Visitor) -> None:
    page = operator.page
    steps = Steps(page)
    operator.go(HAY)
    button = page.get_by_role("button", name="Stop")
    button.focus()
    first = steps.one()
    page.keyboard.press("Enter")
    told = page.locator(".log-note [role=status]")
    expect(told).to_contain_text("The search was stopped.")
    first.abort()
    expect(page.get_by_role("button", name="Go on")).to_be_focused()
    expect(told).to_contain_text(re.compile(r"^[\d,]+ calls were looked through"))
    operator.check_in_every_look()
    # Nothing is asked any more, however long one waits.
    page.clock.install()
    page.clock.run_for(60_000)
    assert steps.none_waits()
    page.clock.resume()
    page.keyboard.press("Enter")
    steps.let_go()
    expect(page.locator("#result_list tbody tr")).to_have_count(1, timeout=PATIENCE)
    # What had the focus is gone; it stays where that was.
    expect(page.locator(".log-note")).to_be_focused()


def test_a_search_that_cannot_go_on_says_why(haystack: None, operator: Visitor) -> None:
    page = operator.page
    page.route(STEP, lambda route: route.fulfill(status=503))
    operator.go(HAY)
    expect(page.locator(".log-note [role=status]")).to_contain_text(
        "The search stopped: the control plane answers with 503."
    )
    page.unroute(STEP)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#result_list tbody tr")).to_have_count(1, timeout=PATIENCE)


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_list_and_life_of_a_call_can_be_read_by_everybody(
    plane: Plane, browser: Browser, look: Look
) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go(f"{LOG}?status__in=failure%2Ctimeout&q=log_not_there&duration_ms__gte=0")
        page.get_by_text("Export", exact=True).click()
        visitor.check()
        page.locator("#result_list tbody tr").first.get_by_role("link").first.click()
        expect(page.get_by_role("heading", name="Life of the call")).to_be_visible()
        stage = page.get_by_role("row", name="Validation")
        expect(stage).to_contain_text("here it failed")
        bar = stage.locator("i.wrong").bounding_box()
        assert bar is not None
        assert bar["width"] > 10
        visitor.check()
        page.get_by_role("link", name="Calls of log_not_there").click()
        expect(page.locator("#result_list tbody tr")).to_have_count(1)
