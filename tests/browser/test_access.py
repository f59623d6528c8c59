"""Keys and people in a browser: a key that works and one that is refused, and somebody who only looks."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import DARK_NARROW, Visitor, visiting
from tests.processes import wait_until


def test_shown_command_works_in_a_terminal_and_its_call_is_in_the_log(
    plane: Plane, browser: Browser, operator: Visitor
) -> None:
    agent = "Report agent"
    page = operator.go("/admin/tools/apiclient/add/")
    page.fill("[name=name]", agent)
    page.click(".select2-selection")
    page.get_by_role("option", name="all", exact=True).click()
    page.click("[name=_save]")
    expect(page.get_by_text("it is not shown again")).to_be_visible()
    operator.check_in_every_look()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-copy=key-command]")
    expect(page.locator("[data-copy=key-command]")).to_have_text("Copied")
    command = page.evaluate("navigator.clipboard.readText()")
    assert pasted(command)["success"] is True
    calls = page.get_by_role("link", name=f"calls of {agent}")
    log = calls.get_attribute("href") or ""
    page.reload()
    expect(page.get_by_text("shown once and is kept nowhere")).to_be_visible()
    page.get_by_role("link", name=f"To the page of {agent}").click()
    # The journal is written a moment later; the page renews itself.
    expect(page.locator("section[aria-label=Usage] dd").first).to_have_text("1", timeout=20_000)
    operator.check()
    operator.go(log)
    expect(page.locator("#result_list tbody tr")).to_have_count(1)
    with visiting(browser, plane.url, DARK_NARROW) as visitor:
        visitor.log_in(plane.password)
        phone = visitor.go("/admin/tools/apiclient/")
        phone.get_by_role("link", name=agent).first.click()
        phone.on("dialog", lambda dialog: dialog.accept())
        phone.select_option("[name=hours]", "24")
        phone.get_by_role("button", name="Replace the key").click()
        expect(phone.locator("#issued-key")).to_contain_text("cp_")
        visitor.check()
        phone.get_by_role("link", name=f"To the page of {agent}").click()
        expect(phone.get_by_text("The key before it works until")).to_be_visible()
        visitor.check()
        phone.locator("[name=enabled]").uncheck()
        phone.click("[name=_save]")
        phone.wait_for_url("**/apiclient/")
    wait_until(lambda: not pasted(command)["success"], what="the refusal of the key")
    assert "key" in pasted(command)["error"]


def pasted(command: str) -> Any:
    """What a shell prints when the command is pasted into it."""
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 - wherever the system has it
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_client_has_a_tab_that_tells_what_to_paste(operator: Visitor) -> None:
    page = operator.go("/admin/tools/apiclient/connect/")
    tabs = page.get_by_role("navigation", name="Clients").get_by_role("link")
    titles = tabs.all_inner_texts()
    assert len(titles) > 5
    for title in titles:
        tabs.filter(has_text=title).first.click()
        expect(tabs.and_(page.locator("[aria-current=page]"))).to_have_text(title)
        expect(page.locator("#setup-text")).not_to_be_empty()
        operator.check_in_every_look()


def test_who_only_looks_is_offered_no_switch_and_told_what_is_not_allowed(
    plane: Plane, browser: Browser
) -> None:
    code = (
        "from django.contrib.auth.models import Group, User\n"
        "made = User.objects.create_user('looker', password='only-looking', is_staff=True)\n"
        "made.groups.add(Group.objects.get(name='Viewer'))"
    )
    made = plane.stack.manage("shell", "--no-imports", "-c", code)
    assert made.returncode == 0, made.stderr
    with visiting(browser, plane.url) as visitor:
        visitor.log_in("only-looking", "looker")
        page = visitor.go("/admin/tools/tool/")
        expect(page.locator("#result_list tbody tr").first).to_be_visible()
        expect(page.get_by_role("switch")).to_have_count(0)
        expect(page.locator("aside, nav").get_by_role("link", name="Try it")).to_have_count(0)
        visitor.check()
        answer = page.goto(f"{plane.url}/admin/tools/tool/try/")
        assert answer is not None
        assert answer.status == 403
        expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
        expect(page.get_by_text("An administrator can give you another role")).to_be_visible()
        # The browser tells of the status, and of nothing else.
        assert len(visitor.complaints) == 1
        visitor.complaints.clear()
        visitor.check()
