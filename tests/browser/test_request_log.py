"""The request log as a person uses it: filter, page on and back, read the life of a call, take a file away."""

from __future__ import annotations

import csv
import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Look, Visitor, visiting
from tests.processes import wait_until

LOG = "/admin/tools/toolrequest/"
CALLS = 53


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


@pytest.mark.parametrize(
    "look", [LOOKS[0], LOOKS[3]], ids=lambda look: f"{look.scheme}-{look.width}"
)
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
