"""Pipelines, as an operator compares and measures them in a browser."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.conftest import Plane
from tests.browser.corpus import upload
from tests.browser.visitor import DARK_NARROW, Visitor, visiting
from tests.indexes import TEXTS

PATIENCE = 60_000
LONG = "water " * 1200
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


def test_limit_is_lowered_and_queries_are_seen_to_wait_for_it(
    plane: Plane, indexed: None, operator: Visitor
) -> None:
    before = limit(operator, "1")
    page = operator.go("/admin/tools/pipelineconfig/")
    page.get_by_role("link", name="basic", exact=True).first.click()
    now = page.get_by_role("region", name="Now", exact=True)
    with asking(plane, "rag_basic", callers=6):
        # The page follows by itself.
        expect(now).to_contain_text(re.compile(r"Slots taken\s*1 of 1"), timeout=PATIENCE)
        expect(now).to_contain_text(re.compile(r"Wait for a slot\s*[1-9]"), timeout=PATIENCE)
        expect(page.get_by_role("region", name="Running queries")).to_be_visible(timeout=PATIENCE)
    expect(now).to_contain_text("No query is running.", timeout=PATIENCE)
    operator.check_in_every_look()
    assert limit(operator, before) == "1"
    assert operator.complaints == []


def limit(operator: Visitor, queries: str) -> str:
    """Set how many queries of the basic pipeline may run at the same time; how many it was."""
    page = operator.go("/admin/tools/pipelineconfig/")
    page.get_by_role("link", name="basic", exact=True).first.click()
    field = page.locator("[name=max_concurrent_queries]")
    before = field.input_value()
    field.fill(queries)
    page.locator("[name=_save]").first.click()
    row = page.locator(
        "#result_list tbody tr", has=page.get_by_role("link", name="rag_basic", exact=True)
    )
    expect(row).to_contain_text(f"{queries} at once")
    return before


@contextmanager
def asking(plane: Plane, tool: str, *, callers: int) -> Iterator[None]:
    """So many callers, each with one long question after the other until the end."""
    enough = threading.Event()

    def ask(caller: int) -> None:
        for number in itertools.count():
            if enough.is_set():
                return
            plane.stack.call(tool, query=f"Who oils pump {caller} {number}? {LONG}")

    with ThreadPoolExecutor(callers) as pool:
        asked = [pool.submit(ask, caller) for caller in range(callers)]
        try:
            yield
        finally:
            enough.set()
    for one in asked:
        one.result()


def test_everybody_can_use_the_pages_on_a_narrow_screen(
    plane: Plane, indexed: None, browser: Browser
) -> None:
    with visiting(browser, plane.url, DARK_NARROW) as visitor:
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
