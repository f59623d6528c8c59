"""Pages for people who are not logged in: the way in, the way that is barred, and the API's documentation."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Look, visiting


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[-1]], ids=lambda look: look.scheme)
def test_whoever_guesses_passwords_is_told_how_long_to_wait(
    plane: Plane, browser: Browser, look: Look
) -> None:
    with visiting(browser, plane.url, look) as visitor:
        page = visitor.go("/admin/login/")
        visitor.check()
        for _ in range(5):
            page.fill("[name=username]", f"guess-{look.scheme}")
            page.fill("[name=password]", "wrong")
            page.click("[type=submit]")
        expect(page.get_by_role("alert")).to_contain_text("for 15 minutes")
        # That the answer is a refusal is what the browser says in its console.
        assert all("429" in one for one in visitor.complaints)
        visitor.complaints.clear()
        visitor.check()


def test_the_documentation_of_the_api_is_drawn_without_other_hosts(
    plane: Plane, browser: Browser
) -> None:
    with visiting(browser, plane.url) as visitor:
        page = visitor.go("/api/docs")
        expect(page.get_by_text("Call a tool")).to_be_visible(timeout=20_000)
        assert visitor.complaints == []
