"""Two people with one form open in their browsers."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import Visitor, visiting

CONFIGURATION = "/admin/tools/serviceconfiguration/"


def test_the_second_who_saves_is_told_and_opens_the_page_anew(
    plane: Plane, browser: Browser, operator: Visitor
) -> None:
    page = operator.go(CONFIGURATION)
    page.locator("#result_list tbody tr a").first.click()
    address = page.url.removeprefix(plane.url)
    limit = page.locator("[name=security_rate_limit]")
    before = limit.input_value()
    with visiting(browser, plane.url) as visitor:
        visitor.log_in(plane.password)
        other = visitor.go(address)
        other.fill("[name=security_rate_limit]", "123")
        other.click("[name=_continue]")
        expect(other.get_by_text("was changed successfully")).to_be_visible()
    page.fill("[name=server_timeout]", "77")
    page.click("[name=_save]")
    told = page.get_by_text("since you opened this page somebody else has changed")
    expect(told).to_contain_text("last by admin at")
    expect(page.locator("[name=server_timeout]")).to_have_value("77")
    operator.check_in_every_look()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open it anew").click()
    anew = opened.value
    expect(anew.locator("[name=security_rate_limit]")).to_have_value("123")
    anew.fill("[name=security_rate_limit]", before)
    anew.click("[name=_save]")
    anew.wait_for_url(f"**{CONFIGURATION}")
    assert operator.complaints == []
