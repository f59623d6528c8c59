"""The front page of the admin, as a person sees and uses it."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Look, Visitor, visiting
from tests.processes import wait_until

FAILED = re.compile(r"Failed\s+(\d+)")
TWENTY_MINUTES = 20 * 60
# After this long every part has been renewed.
A_WHILE = 31_000
# The status, what runs now, the calls, and incidents.
PARTS = 4
LOGGED_OUT = re.compile(
    r"^Not renewed since \d\d:\d\d:\d\d UTC: you are logged out\. Log in again$"
)
NO_ANSWER = re.compile("^Not renewed since .* UTC: the control plane does not answer")
ANSWERED_WITHIN = 3_000
PATIENCE = 60
# A round that finds one thing more, which is away; the next one does not look for it.
AWAY = """
from dataclasses import replace
from datetime import UTC, datetime
from health.findings import Dependency
from health.known import written_down
from health.record import record
from health.status import DependencyStatus
known, away = written_down(), Dependency(DependencyStatus.UNAVAILABLE, error="Nobody is there")
found = {{**known.dependencies, {name!r}: away}}
assert record(replace(known, dependencies=found, checked_at=datetime.now(UTC)))
"""


@pytest.fixture(scope="module", autouse=True)
def calls(plane: Plane) -> None:
    """Some calls, in the request log: three that succeed, one of a tool that is not there."""
    for _ in range(3):
        assert plane.stack.call("server_metrics")[0] == 200
    status, refused = plane.stack.call("no_such_tool")
    assert status == 404
    assert refused["code"] == "TOOL_NOT_FOUND"
    away(plane, "api:shop")


def away(plane: Plane, name: str) -> None:
    """Let a dependency be away for one round."""

    def written() -> bool:
        return (
            plane.stack.manage("shell", "--no-imports", "-c", AWAY.format(name=name)).returncode
            == 0
        )

    # Another round may come between, and is the later one then.
    wait_until(written, what=f"a round that does not find {name}")


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


def test_a_number_of_this_moment_leads_to_its_list(operator: Visitor) -> None:
    page = operator.go("/admin/")
    page.get_by_role("link", name=re.compile("^Not yet logged")).click()
    expect(page).to_have_url(re.compile("/running/#unlogged$"))
    expect(page.get_by_role("heading", name=re.compile("^Not yet logged"))).to_be_in_viewport()
    operator.check_in_every_look()


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


def live_page(visitor: Visitor, path: str = "/admin/") -> Page:
    """The dashboard with a clock that can be put forward."""
    visitor.page.clock.install()
    return visitor.go(path)


def notes(page: Page) -> Locator:
    """What is said of the parts that are not renewed."""
    return page.get_by_role("status").filter(has_text="Not renewed since")


def pass_until_told(page: Page, why: re.Pattern[str] | None) -> None:
    """Let time pass until the four parts say why they are not renewed, or none says anything.

    After each leap they have some time that is not faked: what they fetch may be given up meanwhile, and
    is fetched again at the next one.
    """
    wanted = [why] * PARTS if why else []

    def told() -> bool:
        page.clock.fast_forward(A_WHILE)
        with suppress(AssertionError):
            expect(notes(page)).to_have_text(wanted, timeout=ANSWERED_WITHIN)
            return True
        return False

    wait_until(told, PATIENCE, f"the notes on why it is not renewed: {why}")


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.scheme}-{look.width}")
def test_whoever_is_logged_out_is_told_that_nothing_is_renewed(
    plane: Plane, browser: Browser, look: Look
) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        page = live_page(visitor, "/admin/?range=15m")
        expect(page.get_by_text("Dependency api:shop")).to_be_visible()
        expect(notes(page)).to_have_count(0)
        elsewhere = Visitor(page.context.new_page(), plane.url)
        elsewhere.go("/admin/").locator("form[action$='/logout/']").evaluate("it => it.submit()")
        elsewhere.page.wait_for_load_state()
        pass_until_told(page, LOGGED_OUT)
        expect(page.locator("[data-stale]")).to_have_count(PARTS)
        visitor.check()
        # Back again from elsewhere, nothing is left of it.
        elsewhere.log_in(plane.password)
        pass_until_told(page, None)
        expect(page.locator("[data-stale]")).to_have_count(0)
        visitor.check()


def test_log_in_again_leads_back_to_the_same_range(plane: Plane, operator: Visitor) -> None:
    page = live_page(operator, "/admin/?range=24h")
    # As when a session is over: of the others, each part that is fetched without one would get its own.
    page.context.clear_cookies(name="sessionid")
    page.clock.fast_forward(A_WHILE)
    notes(page).get_by_role("link", name="Log in again").first.click()
    page.fill("[name=username]", "admin")
    page.fill("[name=password]", plane.password)
    page.click("[type=submit]")
    page.wait_for_url("**/admin/?range=24h")


def test_control_plane_that_does_not_answer_is_told_until_it_does(operator: Visitor) -> None:
    page = live_page(operator)
    page.context.set_offline(True)
    pass_until_told(page, NO_ANSWER)
    since = notes(page).all_inner_texts()
    page.clock.fast_forward(A_WHILE)
    # Since when is what it was.
    assert notes(page).all_inner_texts() == since
    page.context.set_offline(False)
    pass_until_told(page, None)


def test_focus_stays_where_it_is_while_everything_is_renewed(operator: Visitor) -> None:
    page = live_page(operator)
    table = page.get_by_role("region", name="Busiest tools")
    for link in (
        page.get_by_role("link", name=re.compile("^Running calls")),
        # Addresses of these move with the time.
        page.get_by_role("link", name=FAILED),
        table.get_by_role("row").nth(1).get_by_role("link").nth(2),
        page.get_by_role("link", name="What was found"),
        page.locator("li.change a").first,
    ):
        operator.go("/admin/?range=15m")
        page.get_by_text("The charts as a table").click()
        link.focus()
        before = link.element_handle()
        page.clock.fast_forward(A_WHILE)
        # Another one is in its place.
        page.wait_for_function("before => !before.isConnected", arg=before)
        expect(link).to_be_focused()
        expect(page.locator("details")).to_have_attribute("open", "")
    assert operator.complaints == []


def test_click_takes_effect_though_its_part_was_renewed_before_it_ended(operator: Visitor) -> None:
    page = live_page(operator)
    looks: list[str] = []
    page.on("requestfinished", lambda one: looks.append(one.url) if "/live/" in one.url else None)

    def looked_twice() -> bool:
        page.clock.fast_forward(A_WHILE)
        # The second look begins when the first one was put in place.
        return len(looks) > 1

    running = page.get_by_role("link", name=re.compile("^Running calls"))
    running.hover()
    page.mouse.down()
    wait_until(looked_twice, what="the renewal of what runs now")
    page.mouse.up()
    expect(page).to_have_url(re.compile("finished_at__isnull=True"))


def test_focus_stays_near_what_is_gone(operator: Visitor) -> None:
    page = live_page(operator)
    part = page.get_by_role("region", name="Now")
    part.evaluate(
        """it => { const made = document.createElement("a"); made.href = "/gone/"; made.textContent = "gone";
        it.append(made); made.focus(); }"""
    )
    page.clock.fast_forward(A_WHILE)
    expect(page.get_by_role("link", name="gone")).to_have_count(0)
    expect(part).to_be_focused()
    page.keyboard.press("Tab")
    expect(part.get_by_role("link").first).to_be_focused()


def test_incident_and_calls_appear_without_a_reload(plane: Plane, operator: Visitor) -> None:
    page = live_page(operator, "/admin/?range=15m")
    begun = page.evaluate("performance.timeOrigin")
    line = page.locator("li.change").filter(has_text="Dependency mcp:elsewhere")
    row = page.get_by_role("region", name="Busiest tools").get_by_role("link", name="later")
    expect(line.or_(row)).to_have_count(0)
    away(plane, "mcp:elsewhere")
    plane.stack.add_tool("later")

    def appeared() -> bool:
        page.clock.fast_forward(A_WHILE)
        return line.count() == 1 and row.count() > 0

    # Figures are told a moment after the calls.
    wait_until(appeared, what="the incident and the calls")
    expect(line).to_contain_text(re.compile(r"unavailable[\s\S]*: Nobody is there"))
    assert page.evaluate("performance.timeOrigin") == begun
    line.get_by_role("link").click()
    expect(page).to_have_title(re.compile("mcp:elsewhere"))
