"""Changing a tool, seeing the change in the audit trail, and going back on it from its versions."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import DARK_NARROW, LIGHT_WIDE, Look, Visitor, seen_in, visiting


def open_tool(visitor: Visitor, name: str) -> Page:
    """The page of a tool, by way of the list."""
    page = visitor.go(f"/admin/tools/tool/?q={name}")
    page.locator("#result_list").get_by_role("link", name=name, exact=True).click()
    expect(page.locator("[name=title]")).to_be_visible()
    return page


def change_title(page: Page, title: str) -> None:
    page.locator("[name=title]").fill(title)
    page.locator("[name=_save]").first.click()
    expect(page).to_have_url(re.compile(r"/admin/tools/tool/(\?|$)"))


def test_a_change_is_seen_in_the_trail_and_gone_back_on(operator: Visitor) -> None:
    page = open_tool(operator, "tool_search")
    before = page.locator("[name=title]").input_value()
    change_title(page, "Find the right tool")
    page = open_tool(operator, "tool_search")
    tool = page.url
    page.locator("a[href*='/history/']").first.click()
    expect(page).to_have_title(re.compile("audit trail"))
    newest = page.locator("#result_list tbody tr").first
    expect(newest).to_contain_text("admin")
    expect(newest).to_contain_text("title")
    newest.get_by_role("link").first.click()
    expect(page.locator(".audit-text").first).to_have_text(before or "empty")
    expect(page.locator(".audit-text").last).to_have_text("Find the right tool")
    page.goto(tool)
    page.get_by_role("link", name="Versions", exact=True).first.click()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name=re.compile("From version"))).to_be_visible()
    page.get_by_role("link", name=re.compile(r"^Revert to version")).first.click()
    page.get_by_role("button", name=re.compile(r"^Revert to version")).click()
    expect(page.get_by_text("tool_search is again what it was")).to_be_visible()
    page.goto(tool)
    expect(page.locator("[name=title]")).to_have_value(before)
    assert operator.complaints == []


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_everybody_can_read_trail_and_versions(plane: Plane, browser: Browser, look: Look) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        change_title(open_tool(visitor, "rag_metrics"), f"Figures, {look.scheme} {look.width}")
        page = open_tool(visitor, "rag_metrics")
        tool = page.url.split("?")[0].removesuffix("change/").removeprefix(plane.url)
        visitor.go(f"{tool}versions/?first=1&second=2")
        visitor.check()
        visitor.go(f"{tool}versions/1/revert/")
        visitor.check()
        page = visitor.go("/admin/tools/auditentry/?q=rag_metrics")
        visitor.check()
        page.locator("#result_list tbody tr").first.get_by_role("link").first.click()
        expect(page.locator("ins").first).to_be_visible()
        visitor.check()
