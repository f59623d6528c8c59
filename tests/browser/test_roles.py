"""People of the roles in a browser: an administrator lets an operator in, who runs tools and meets limits."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import Visitor, visiting

CHIEF = (
    "from django.contrib.auth.models import Group, User\n"
    "made = User.objects.create_user('chief', password='only-for-chiefs', is_staff=True)\n"
    "made.groups.add(Group.objects.get(name='Administrator'))"
)
PASSWORD = "only-for-operators"


def side_bar(page: Page) -> set[str]:
    """Where it leads to."""
    found = page.eval_on_selector_all(
        "#nav-sidebar a", "links => links.map((one) => one.getAttribute('href'))"
    )
    return set(found)


def test_administrator_lets_an_operator_in_who_runs_tools_and_manages_nobody(
    plane: Plane, browser: Browser
) -> None:
    made = plane.stack.manage("shell", "--no-imports", "-c", CHIEF)
    assert made.returncode == 0, made.stderr
    with visiting(browser, plane.url) as chief:
        chief.log_in("only-for-chiefs", "chief")
        assert {"/admin/auth/user/", "/admin/tools/auditentry/"} <= side_bar(chief.page)
        add_operator(chief)
        with visiting(browser, plane.url) as runner:
            runner.log_in(PASSWORD, "runner")
            run_a_tool(runner)
            refuse_people_and_keys(runner)
        assert chief.complaints == []


def add_operator(chief: Visitor) -> None:
    page = chief.go("/admin/auth/user/add/")
    page.fill("[name=username]", "runner")
    page.fill("[name=password1]", PASSWORD)
    page.fill("[name=password2]", PASSWORD)
    page.click("[name=_save]")
    page.wait_for_url("**/change/")
    page.check("[name=is_staff]")
    page.select_option("[name=groups]", label="Operator")
    chief.check_in_every_look()
    page.locator("[name=_save]").first.click()
    page.wait_for_url("**/admin/auth/user/")
    expect(page.locator("#result_list tbody tr", has_text="runner")).to_be_visible()


def run_a_tool(runner: Visitor) -> None:
    page = runner.page
    page.locator("#nav-sidebar").get_by_role("link", name="Try it").click()
    page.get_by_role("link", name="server_metrics", exact=True).click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#result")).to_contain_text("Succeeded in")
    page = runner.go("/admin/tools/tool/?q=server_metrics")
    expect(page.get_by_role("switch", name="server_metrics enabled")).to_be_visible()


def refuse_people_and_keys(runner: Visitor) -> None:
    """Neither offered nor given: people, and who may call."""
    page = runner.page
    assert not {"/admin/auth/user/", "/admin/auth/group/"} & side_bar(page)
    runner.go("/admin/tools/apiclient/")
    expect(page.locator("a[href$='/apiclient/add/']")).to_have_count(0)
    runner.check_in_every_look()
    for refused in ("/admin/auth/user/", "/admin/auth/user/add/", "/admin/tools/apiclient/add/"):
        answer = page.goto(runner.url + refused)
        assert answer is not None
        assert answer.status == 403
        expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    # The browser tells of each status, and of nothing else.
    assert len(runner.complaints) == 3
    runner.complaints.clear()
    runner.check_in_every_look()
