"""An HTTP API in a browser: added, its OpenAPI document looked through, and one operation taken."""

from __future__ import annotations

import json
from typing import Final

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import DARK_NARROW, LIGHT_WIDE, Look, Visitor, seen_in, visiting
from tests.processes import wait_until

ANSWERS: Final = {"200": {"description": "As it is."}}
# Operations of the control plane itself: there they can be called.
DOCUMENT: Final = {
    "openapi": "3.1.0",
    "info": {"title": "Itself", "version": "1.0"},
    "paths": {
        "/health/live": {
            "get": {"operationId": "isAlive", "summary": "Whether it lives.", "responses": ANSWERS}
        },
        "/tools": {
            "get": {
                "operationId": "listTools",
                "summary": "What can be called.",
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                "responses": ANSWERS,
            }
        },
        "/health": {
            "get": {"operationId": "howItIs", "summary": "How it is.", "responses": ANSWERS}
        },
    },
}


@seen_in(LIGHT_WIDE, DARK_NARROW)
def test_one_operation_of_a_document_becomes_a_tool(
    plane: Plane, browser: Browser, look: Look
) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        begin(visitor)
        page = add(visitor, f"{look.scheme}{look.width}")
        visitor.check()
        page.get_by_role("link", name="Import an OpenAPI document").click()
        page.get_by_label("Or paste it here").fill(json.dumps(DOCUMENT))
        visitor.check()
        page.get_by_role("button", name="Show what it would do").click()
        expect(page.get_by_text("3 operations can be tools, 0 cannot.")).to_be_visible()
        visitor.check()
        chosen = page.locator("[data-count]")
        expect(chosen).to_have_text("3 of 3 chosen")
        page.get_by_label("Show only").fill("how it")
        expect(page.get_by_label("Take GET /health", exact=True)).to_be_visible()
        expect(page.get_by_label("Take GET /tools")).to_be_hidden()
        page.get_by_role("button", name="Choose none shown").click()
        expect(chosen).to_have_text("2 of 3 chosen, 2 of them not shown")
        visitor.check()
        page.get_by_label("Show only").fill("")
        page.get_by_role("button", name="Choose none").click()
        expect(chosen).to_have_text("0 of 3 chosen")
        page.get_by_label("Take GET /health/live").check()
        expect(chosen).to_have_text("1 of 3 chosen")
        page.get_by_role("button", name="Save the chosen ones").click()
        expect(page.get_by_text("1 tool added, 0 changed, 0 switched off.")).to_be_visible()
        page.get_by_role("link", name="Its operations").click()
        rows = page.locator("#result_list tbody tr")
        expect(rows).to_have_count(1)
        rows.get_by_role("link", name="GET /health/live").click()
        tool = page.locator("[name=name]").input_value()
        visitor.check()
    assert tool.startswith(f"{look.scheme}{look.width}_")
    wait_until(lambda: plane.stack.call(tool)[0] == 200, what="the new tool")


def begin(visitor: Visitor) -> None:
    """With a document alone, up to the page that has its name and address in it."""
    page = visitor.go("/admin/tools/apiservice/from-document/")
    visitor.check()
    served = {**DOCUMENT, "servers": [{"url": "https://itself.example/v1"}]}
    page.get_by_label("Or paste it here").fill(json.dumps(served))
    page.get_by_role("button", name="Read the document").click()
    expect(page.locator("[name=slug]")).to_have_value("itself")
    expect(page.locator("[name=base_url]")).to_have_value("https://itself.example/v1")
    visitor.check()


def add(visitor: Visitor, name: str) -> Page:
    page = visitor.go("/admin/tools/apiservice/add/")
    page.fill("[name=slug]", f"itself-{name}")
    page.fill("[name=base_url]", visitor.url)
    page.fill("[name=prefix]", f"{name}_")
    page.fill("[name=allowed_networks]", '["127.0.0.0/8"]')
    page.click("[name=_save]")
    expect(page.get_by_role("link", name="Import an OpenAPI document")).to_be_visible()
    return page
