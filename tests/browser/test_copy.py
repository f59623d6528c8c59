"""Buttons that copy: what they say is what has happened."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.browser.visitor import Visitor

CONNECT: Final = "/admin/tools/apiclient/connect/"
REFUSED: Final = """
() => {
  navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
}
"""
NO_COPY: Final = "() => { document.execCommand = () => false; }"
SELECTED: Final = "window.getSelection().toString().trim()"


def first_button(page: Page) -> tuple[Locator, str]:
    """The first of the buttons that copy, and the text that it is for."""
    button = page.locator("button[data-copy]:visible").first
    text = page.locator(f"#{button.get_attribute('data-copy')}").text_content()
    assert text is not None
    return button, text.strip()


def test_a_clipboard_that_refuses_is_gone_round(operator: Visitor) -> None:
    page = operator.go(CONNECT)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('what was there before')")
    page.evaluate(REFUSED)
    button, text = first_button(page)
    button.click()
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").strip() == text
    assert operator.complaints == []


def test_what_cannot_be_copied_is_selected_and_the_button_says_what_to_press(
    operator: Visitor,
) -> None:
    page = operator.go(CONNECT)
    page.context.grant_permissions(["clipboard-read"])
    page.evaluate(REFUSED)
    page.evaluate(NO_COPY)
    button, text = first_button(page)
    button.click()
    expect(button).to_have_text("Press Ctrl-C")
    assert page.evaluate(SELECTED) == text
    page.keyboard.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()").strip() == text
    assert operator.complaints == []
