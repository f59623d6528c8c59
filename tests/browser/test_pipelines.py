"""Pipelines, as an operator compares and measures them in a browser."""

from __future__ import annotations

from collections.abc import Container

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.conftest import Plane
from tests.browser.corpus import upload
from tests.browser.visitor import LOOKS, Visitor, visiting
from tests.indexes import TEXTS

PATIENCE = 60_000
ASKED = "Who oils the pump? | pumps.md = 2\nWhen do the birds return? | birds.txt\nWho? | bread.txt"


@pytest.fixture(scope="module")
def indexed(plane: Plane, browser: Browser) -> None:
    """Three short documents in the corpus of the pipelines, uploaded and indexed."""
    with visiting(browser, plane.url) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/tools/corpus/")
        page.get_by_role("link", name="demo", exact=True).first.click()
        files = [
            FilePayload(name=name, mimeType="text/plain", buffer=text.encode())
            for name, text in TEXTS.items()
        ]
        upload(page, files)


def tick(page: Page, wanted: Container[str | None]) -> None:
    """Choose these pipelines and no others."""
    for box in page.locator("input[name=pipelines]").all():
        box.set_checked(box.get_attribute("value") in wanted)


def test_a_question_is_asked_and_pipelines_are_measured_while_the_page_follows(
    plane: Plane, indexed: None, operator: Visitor
) -> None:
    page = operator.go("/admin/tools/pipelineconfig/compare/")
    page.get_by_label("Question").fill("Who oils the pump?")
    tick(page, ("basic", "crag"))
    page.get_by_role("button", name="Ask").click()
    for name in ("basic", "crag"):
        column = page.get_by_role("region", name=name, exact=True)
        expect(column).to_contain_text("It is oiled every Monday.", timeout=PATIENCE)
        expect(column).to_contain_text("found by 2 of 2")
    expect(page.get_by_text("correction_applied")).to_be_visible()
    operator.check()

    page = operator.go("/admin/tools/questionset/add/")
    page.fill("[name=name]", "Handbook")
    page.locator(".field-corpus .select2-selection").click()
    page.locator(".select2-results__option", has_text="demo").first.click()
    page.fill("[name=typed]", ASKED)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("3 questions read: 3 added")).to_be_visible()
    page.get_by_role("link", name="never: evaluate it").click()
    tick(page, ("basic", "crag"))
    page.get_by_role("button", name="Start").click()
    latest = page.get_by_role("region", name="Latest evaluation")
    for name in ("basic", "crag"):
        done = latest.get_by_role("progressbar", name=name, exact=True)
        expect(done).to_have_attribute("aria-valuenow", "100", timeout=PATIENCE)
    expect(latest).to_have_attribute("data-busy", "no")
    expect(page.get_by_role("group", name="nDCG@10")).to_be_visible()
    operator.check()
    page.get_by_role("link", name="crag", exact=True).click()
    expect(page.get_by_text("There is no earlier run to compare with.")).to_be_visible()
    operator.check()


def test_everybody_can_use_the_pages_on_a_narrow_dark_screen(
    plane: Plane, indexed: None, browser: Browser
) -> None:
    with visiting(browser, plane.url, LOOKS[-1]) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/tools/pipelineconfig/compare/")
        page.get_by_label("Question").fill("When do the birds return?")
        tick(page, ("basic", "crag"))
        page.get_by_role("button", name="Ask").click()
        second = page.get_by_role("region", name="crag", exact=True)
        expect(second).to_contain_text("They come back in April.", timeout=PATIENCE)
        first = page.get_by_role("region", name="basic", exact=True).bounding_box()
        below = second.bounding_box()
        assert first is not None
        assert below is not None
        assert below["y"] >= first["y"] + first["height"]
        visitor.check()
        visitor.go("/admin/tools/evaluationrun/evaluate/")
        visitor.check()
        page = visitor.go("/admin/tools/pipelineconfig/")
        page.get_by_role("link", name="basic", exact=True).first.click()
        expect(page.get_by_role("heading", name="Last test query")).to_be_visible()
        visitor.check()
