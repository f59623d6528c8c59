"""Guessing passwords in a browser: who guesses is locked out and told so, and an administrator ends it."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import Visitor, visiting

FAILED_LOG_INS = "/admin/axes/accessattempt/"
PASSWORD = "only-for-guessers"
GUESSER = (
    "from django.contrib.auth.models import Group, User\n"
    f"made = User.objects.create_user('guesser', password={PASSWORD!r}, is_staff=True)\n"
    "made.groups.add(Group.objects.get(name='Viewer'))"
)


def try_to_log_in(visitor: Visitor, password: str) -> Page:
    page = visitor.go("/admin/login/")
    page.fill("[name=username]", "guesser")
    page.fill("[name=password]", password)
    with page.expect_navigation():
        page.click("[type=submit]")
    return page


def test_who_guesses_is_locked_out_until_an_administrator_ends_it(
    plane: Plane, browser: Browser, operator: Visitor
) -> None:
    made = plane.stack.manage("shell", "--no-imports", "-c", GUESSER)
    assert made.returncode == 0, made.stderr
    with visiting(browser, plane.url) as guesser:
        for _ in range(4):
            page = try_to_log_in(guesser, "wrong")
            expect(
                page.get_by_text("Please enter the correct username and password")
            ).to_be_visible()
        for password in ("wrong", PASSWORD):
            page = try_to_log_in(guesser, password)
            expect(page.get_by_role("heading", name="Too many failed log-ins")).to_be_visible()
            expect(page.get_by_role("alert")).to_contain_text("for 15 minutes")
        # The browser tells of both refusals, and of nothing else.
        assert len(guesser.complaints) == 2
        guesser.complaints.clear()
        guesser.check_in_every_look()
        let_in_again(operator)
        guesser.log_in(PASSWORD, "guesser")
        assert guesser.complaints == []


def test_whoever_opens_the_log_in_page_can_type_their_name_at_once(
    plane: Plane, browser: Browser
) -> None:
    with visiting(browser, plane.url) as visitor:
        page = visitor.go("/admin/login/")
        expect(page.locator("[name=username]")).to_be_focused()
        page.keyboard.type("guesser")
        expect(page.locator("[name=username]")).to_have_value("guesser")


def let_in_again(operator: Visitor) -> None:
    page = operator.go(FAILED_LOG_INS)
    row = page.locator("#result_list tbody tr", has_text="guesser")
    expect(row).to_contain_text("locked out", ignore_case=True)
    operator.check_in_every_look()
    row.get_by_role("link", name="guesser").click()
    page.get_by_role("link", name="Delete").click()
    operator.check_in_every_look()
    page.get_by_role("button", name="Yes, I’m sure").click()
    page.wait_for_url(f"**{FAILED_LOG_INS}")
    expect(page.get_by_text("was deleted successfully")).to_be_visible()
    expect(row).to_have_count(0)
    assert operator.complaints == []
