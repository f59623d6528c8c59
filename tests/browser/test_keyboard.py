"""The admin without a mouse: from the log-in to a tool that is switched and run."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import DARK_WIDE, LIGHT_WIDE, Look, Visitor, visiting

TOOL: Final = "server_metrics"
MOST_STEPS: Final = 120
# What has the focus, or what it stands in where that is drawn as one field, is outlined.
OUTLINED: Final = """
() => {
  const drawn = (one) => {
    const style = getComputedStyle(one);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0
      && !/^(transparent|rgba\\(.*, 0\\))$/.test(style.outlineColor);
  };
  const one = document.activeElement;
  // Behind the last there is the browser's own frame.
  if (one === document.body) return true;
  return [one, one.parentElement, one.closest(".select2-selection")].some((near) => near && drawn(near));
}
"""


def step(page: Page) -> None:
    """One press of Tab, after which one sees where one is."""
    page.keyboard.press("Tab")
    assert page.evaluate(OUTLINED), page.evaluate("document.activeElement.outerHTML")


def step_to(page: Page, wanted: Locator) -> None:
    for _ in range(MOST_STEPS):
        step(page)
        if wanted.evaluate("(one) => one === document.activeElement"):
            return
    raise AssertionError(f"{wanted} is not within {MOST_STEPS} steps")


def skip_to_content(page: Page) -> None:
    """The first step on a page leads past its side bar."""
    step(page)
    link = page.get_by_role("link", name="Skip to content")
    expect(link).to_be_focused()
    shown = link.bounding_box()
    assert shown is not None
    assert shown["x"] >= 0
    assert shown["y"] >= 0
    assert shown["height"] > 20
    page.keyboard.press("Enter")
    step(page)
    assert page.evaluate("document.activeElement.closest('#main') !== null")


def test_tool_is_found_switched_and_run_with_the_keyboard_alone(
    plane: Plane, browser: Browser
) -> None:
    with visiting(browser, plane.url) as visitor:
        page = visitor.go("/admin/login/")
        step_to(page, page.locator("[name=username]"))
        page.keyboard.type("admin")
        step_to(page, page.locator("[name=password]"))
        page.keyboard.type(plane.password)
        page.keyboard.press("Enter")
        page.wait_for_url("**/admin/")
        search(page)
        skip_to_content(page)
        switch_twice(page)
        run(page)
        assert visitor.complaints == []


def search(page: Page) -> None:
    """The side bar's own search: Enter for the first that is found, the arrows for the others."""
    page.keyboard.press("t")
    field = page.locator("#nav-filter")
    expect(field).to_be_focused()
    page.keyboard.type("toolset")
    found = page.locator("#search-results a")
    expect(found).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/tools/toolset/")
    page.keyboard.press("t")
    page.keyboard.type("tool")
    wanted = found.filter(has_text=re.compile(r"^\s*Tools\s*/"))
    expect(wanted).to_be_visible()
    for _ in range(found.count()):
        page.keyboard.press("ArrowDown")
        assert page.evaluate(OUTLINED)
        if wanted.evaluate("(one) => one === document.activeElement"):
            break
    page.keyboard.press("ArrowUp")
    expect(wanted).not_to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/tools/tool/")


def switch_twice(page: Page) -> None:
    """Off and on again: other tests use this tool."""
    step_to(page, page.locator("#searchbar"))
    page.keyboard.type(TOOL)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**q={TOOL}**")
    switch = page.get_by_role("switch", name=f"{TOOL} enabled")
    # Whoever has skipped the side bar once is not led back to it by the answer to a form.
    step_to(page, switch)
    for shown, word in (("false", "off"), ("true", "on")):
        page.keyboard.press("Space")
        expect(page.locator(".switch-told")).to_have_text(f"{TOOL} is {word}.")
        expect(switch).to_have_attribute("aria-checked", shown)
        expect(switch).to_be_focused()


def run(page: Page) -> None:
    """From the list to the page of the tool, and on to its form."""
    page.keyboard.press("Shift+Tab")
    step_to(page, page.locator("#result_list").get_by_role("link", name=TOOL, exact=True))
    page.keyboard.press("Enter")
    page.wait_for_url("**/change/**")
    skip_to_content(page)
    step_to(page, page.get_by_role("link", name="Try it", exact=True).last)
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Run", exact=True)
    expect(button).to_be_visible()
    skip_to_content(page)
    step_to(page, button)
    page.keyboard.press("Enter")
    expect(page.locator("#result")).to_contain_text("Succeeded in")


# With switches, with boxes for choosing rows, and with fields for times.
FORMS: Final = (
    "/admin/tools/toolset/add/",
    "/admin/tools/tool/add/",
    "/admin/tools/toolrequest/?duration_ms__gte=0",
)


@pytest.mark.parametrize("look", [LIGHT_WIDE, DARK_WIDE], ids=lambda look: look.scheme)
def test_every_field_shows_that_it_has_the_focus(operator: Visitor, look: Look) -> None:
    for path in FORMS:
        page = operator.go(path)
        for _ in range(MOST_STEPS):
            step(page)
            if page.evaluate("document.activeElement === document.body"):
                break
    assert operator.complaints == []
