"""The pages of health: a check on demand, what rounds found, what changed, who is told, what is promised."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Plane
from tests.browser.test_upstreams import FAILING
from tests.browser.visitor import Visitor
from tests.http_server import Reply, http_server
from tests.processes import wait_until

NOW = "/admin/health/healthsnapshot/now/"
CHECKED = "A worker has checked everything; this is what it found."
PATIENCE = 30_000


def check_now(operator: Visitor) -> Page:
    page = operator.go(NOW)
    page.get_by_role("button", name="Check now").click()
    expect(page.locator("#main [role=status][data-busy]")).to_have_text(CHECKED, timeout=PATIENCE)
    return page


def test_check_on_demand_is_followed_and_its_round_is_in_the_history(operator: Visitor) -> None:
    page = check_now(operator)
    todo = page.get_by_role("region", name="Dependencies").get_by_role("row", name="mcp:todo")
    expect(todo).to_contain_text("CONNECTED", ignore_case=True)
    operator.check_in_every_look()
    page = operator.go("/admin/health/healthsnapshot/")
    newest = page.locator("#result_list tbody tr").first
    expect(newest).to_contain_text("a round of the workers")
    newest.get_by_role("link").first.click()
    found = page.get_by_role("region", name="Dependencies")
    expect(found.get_by_role("row", name="redis")).to_contain_text("CONNECTED", ignore_case=True)
    expect(page.get_by_role("region", name="Pipelines")).to_contain_text("rag_basic")
    operator.check_in_every_look()


def test_what_is_found_later_appears_without_a_reload(operator: Visitor) -> None:
    operator.page.clock.install()
    page = operator.go(NOW)
    begun = page.evaluate("performance.timeOrigin")
    measured = page.locator("dd").first
    before = measured.inner_text()

    def measured_again() -> bool:
        page.clock.fast_forward(6_000)
        return measured.inner_text() != before

    wait_until(measured_again, 60, "a later report")
    assert page.evaluate("performance.timeOrigin") == begun
    assert operator.complaints == []


def test_what_went_wrong_and_well_again_is_among_the_changes(
    plane: Plane, operator: Visitor
) -> None:
    made = plane.stack.manage("shell", "--no-imports", "-c", FAILING)
    assert made.returncode == 0, made.stderr
    page = check_now(operator)
    notice = page.locator("[data-health-notice]")
    expect(page.get_by_text("Breakers that hold calls back")).to_be_visible()
    page = operator.go("/admin/tools/upstreamserver/breakers/")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Reset").first.click()
    expect(page.get_by_text("The breaker of mcp:todo is closed.")).to_be_visible()
    page = check_now(operator)
    expect(notice).to_have_count(0)
    page = operator.go("/admin/")
    expect(page.locator(".change", has_text="mcp:todo").first).to_be_visible()
    operator.check_in_every_look()
    page.get_by_role("link", name="All changes").click()
    rows = page.locator("#result_list tbody tr", has_text="mcp:todo")
    expect(rows).not_to_have_count(0)
    operator.check_in_every_look()
    rows.first.get_by_role("link").first.click()
    expect(page.locator("fieldset")).to_contain_text("unavailable")
    operator.check_in_every_look()


def test_receiver_is_added_tested_and_its_delivery_listed(operator: Visitor) -> None:
    with http_server(always=Reply(202)) as receiver:
        page = operator.go("/admin/health/healthwebhook/add/")
        page.fill("[name=name]", "pager")
        page.fill("[name=url]", f"{receiver.url}/events")
        page.select_option("[name=changes]", "service")
        page.fill("[name=allowed_networks]", '["127.0.0.0/8"]')
        page.click("[name=_save]")
        expect(page.get_by_text("it is not shown again")).to_be_visible()
        operator.check_in_every_look()
        page.get_by_role("button", name="Send a test event").click()
        expect(page.get_by_text("it answered with status 202")).to_be_visible()
        assert [one.path for one in receiver.asked] == ["/events"]
        page.get_by_role("link", name="All of them").click()
        expect(page.locator("#result_list tbody tr")).to_have_count(1)
        operator.check_in_every_look()
        page = operator.go("/admin/health/healthwebhook/")
        page.get_by_role("link", name="pager", exact=True).click()
        # Nobody listens there from now on.
        page.locator("[name=enabled]").uncheck()
        page.click("[name=_save]")
        expect(page.locator("#result_list tbody tr", has_text="pager")).to_contain_text(
            "off", ignore_case=True
        )
    assert operator.complaints == []


def test_promise_is_made_read_and_taken_back(plane: Plane, operator: Visitor) -> None:
    assert plane.stack.call("server_metrics")[0] == 200
    page = operator.go("/admin/health/servicelevelobjective/add/")
    page.fill("[name=tool]", "server_metrics")
    page.fill("[name=availability_percent]", "99.5")
    page.fill("[name=latency_ms]", "2000")
    page.click("[name=_save]")
    row = page.locator("#result_list tbody tr", has_text="server_metrics")
    expect(row).to_contain_text("99.5 % succeed over 30 days")
    expect(row).to_contain_text("within 2,000 ms")
    row.get_by_role("link").first.click()
    expect(page.get_by_text("How it stands")).to_be_visible()
    operator.check_in_every_look()
    page.get_by_role("link", name=re.compile("^Delete")).click()
    page.get_by_role("button", name=re.compile("sure")).click()
    page.wait_for_url("**/servicelevelobjective/")
    expect(row).to_have_count(0)
    assert operator.complaints == []
