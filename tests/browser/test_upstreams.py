"""An MCP server in a browser: its program dies and comes back, and what it offers is decided on."""

from __future__ import annotations

import os
import re
import signal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Plane, paused
from tests.browser.visitor import DARK_NARROW, Visitor, visiting
from tests.processes import wait_until

TOOL, OTHER = "search_todos", "list_todos"
# As if something else had been approved than the server says.
OTHERWISE = """
from tools.models import UpstreamItem
from tools.upstreams import Kind, fingerprint
for item in UpstreamItem.objects.filter(remote_name__in={names!r}):
    item.approved["description"] = item.tool.description = "Searches todos by their title alone."
    item.approved_hash = fingerprint(Kind.TOOL, item.approved)
    item.save()
    item.tool.save()
"""
FAILING = """
from tests.failing_services import fail
from tools.conf import deployment
from tools.guards.breaker import CircuitBreakerConfig
fail(deployment().redis_url, "mcp:todo", 5, CircuitBreakerConfig())
"""
STARTED = re.compile(r"started, pid (\d+)")


def server_page(visitor: Visitor) -> str:
    page = visitor.go("/admin/tools/upstreamserver/")
    page.get_by_role("link", name="TodoDatabaseServer").first.click()
    page.wait_for_url("**/change/**")
    return page.url


def test_log_tells_how_the_program_died_and_that_it_runs_again(
    plane: Plane, browser: Browser, operator: Visitor
) -> None:
    server_page(operator)
    page = operator.page
    log = page.get_by_role("log").first
    expect(log).to_contain_text(STARTED, timeout=20_000)
    pid = int(STARTED.findall(log.inner_text())[-1])
    os.kill(pid, signal.SIGKILL)
    # Both by themselves.
    expect(log).to_contain_text("was ended by SIGKILL", timeout=20_000)
    again = re.compile(rf"SIGKILL[\s\S]*started, pid (?!{pid}\b)\d+")
    expect(log).to_contain_text(again, timeout=30_000)
    operator.check()
    with visiting(browser, plane.url, DARK_NARROW) as visitor:
        visitor.log_in(plane.password)
        server_page(visitor)
        expect(visitor.page.get_by_role("log").first).to_contain_text("SIGKILL")
        visitor.check()


def test_log_stands_still_while_it_has_the_focus(operator: Visitor) -> None:
    server_page(operator)
    page = operator.page
    log = page.get_by_role("log").first
    part = page.locator("[data-follow$='/log/']").get_attribute("data-follow")
    expect(log).to_contain_text(STARTED, timeout=20_000)
    log.focus()
    before = log.inner_text()
    deaths = before.count("was ended by SIGKILL")
    os.kill(int(STARTED.findall(before)[-1]), signal.SIGKILL)

    def told() -> bool:
        there = page.evaluate("part => fetch(part).then((answer) => answer.text())", part)
        return str(there).count("was ended by SIGKILL") > deaths

    wait_until(told, what="the death of the program")
    # One that began later has it too.
    for _ in range(2):
        with page.expect_response(f"**{part}"):
            pass
    assert log.inner_text() == before
    log.blur()
    expect(log).not_to_have_text(before, timeout=20_000)


def test_connection_is_tested_and_offers_are_looked_at_again(
    plane: Plane, operator: Visitor
) -> None:
    server_page(operator)
    page = operator.page
    page.get_by_role("button", name="Test connection").click()
    asked = page.locator("section[data-busy=no]", has_text="it answers")
    expect(asked).to_contain_text("Nothing was saved.", timeout=20_000)
    asked.get_by_text(re.compile(r"^\d+ tools")).click()
    expect(asked.locator("code", has_text=TOOL)).to_be_visible()
    operator.check_in_every_look()
    page.get_by_role("button", name="Refresh tools").click()
    expect(asked).to_contain_text("nothing had to be changed", timeout=20_000)
    assert operator.complaints == []


def test_page_comes_back_by_itself_after_redis_was_away(plane: Plane, operator: Visitor) -> None:
    server_page(operator)
    page = operator.page
    connections = page.get_by_role("heading", name="Connections")
    expect(connections).to_be_visible()
    with paused(plane.stack.processes()["redis"].pid):
        for what in ("nobody knows how the connections are", "and the log is in it"):
            expect(page.get_by_text(what)).to_be_visible(timeout=20_000)
        operator.check_in_every_look()
    expect(connections).to_be_visible(timeout=20_000)
    expect(page.get_by_role("log").first).to_be_visible(timeout=20_000)
    assert operator.complaints == []


def changed(plane: Plane, visitor: Visitor, *names: str) -> Locator:
    """Let the server say something else of these tools; the link to what then waits."""
    made = plane.stack.manage("shell", "--no-imports", "-c", OTHERWISE.format(names=names))
    assert made.returncode == 0, made.stderr
    server_page(visitor)
    visitor.page.get_by_role("button", name="Refresh tools").click()
    waits = visitor.page.get_by_role(
        "link", name=re.compile(rf"{len(names)} waits? for a decision")
    )
    expect(waits).to_be_visible(timeout=20_000)
    return waits


def test_what_a_server_has_changed_is_shown_and_approved(
    plane: Plane, browser: Browser, operator: Visitor
) -> None:
    waits = changed(plane, operator, TOOL)
    page = operator.page
    assert plane.stack.call(TOOL, query="plants")[0] != 200
    waits.click()
    page.get_by_role("link", name=TOOL).first.click()
    expect(page.get_by_role("heading", name="It was changed since it was approved")).to_be_visible()
    # Word by word.
    expect(page.locator("del", has_text="alone")).to_be_visible()
    expect(page.locator("ins", has_text="keyword")).to_be_visible()
    operator.check()
    with visiting(browser, plane.url, DARK_NARROW) as visitor:
        visitor.log_in(plane.password)
        visitor.go(urlsplit(page.url).path)
        visitor.check()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("approved").first).to_be_visible()
    wait_until(lambda: plane.stack.call(TOOL, query="plants")[0] == 200, what="the approved tool")
    assert operator.complaints == []


def test_several_offers_are_shown_and_decided_on_together(
    plane: Plane, browser: Browser, operator: Visitor
) -> None:
    changed(plane, operator, TOOL, OTHER).click()
    waiting = urlsplit(operator.page.url)
    offers = f"{waiting.path}?{waiting.query}"
    with visiting(browser, plane.url, DARK_NARROW) as visitor:
        visitor.log_in(plane.password)
        choose_all(visitor, offers, "reject_selected")
        expect(visitor.page.get_by_role("button", name="Reject all of these")).to_be_visible()
        visitor.check()
        visitor.page.get_by_role("link", name="Decide on none").click()
    page = choose_all(operator, offers, "approve_selected")
    for name in (TOOL, OTHER):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.locator("del").first).to_be_visible()
    operator.check()
    page.get_by_role("button", name="Approve all of these").click()
    expect(page.get_by_text("2 offers approved.")).to_be_visible()
    wait_until(lambda: plane.stack.call(OTHER)[0] == 200, what="the approved tool")
    assert operator.complaints == []


def choose_all(visitor: Visitor, offers: str, action: str) -> Page:
    """Tick every offer of the list, and begin with the action."""
    page = visitor.go(offers)
    boxes = page.locator("#result_list .action-select")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.check()
    page.select_option("[name=action]", action)
    page.click("button[name=index]")
    return page


def test_an_open_breaker_is_shown_and_closed_by_hand(plane: Plane, operator: Visitor) -> None:
    made = plane.stack.manage("shell", "--no-imports", "-c", FAILING)
    assert made.returncode == 0, made.stderr
    page = operator.go("/admin/tools/upstreamserver/breakers/")
    todo = page.locator("section", has=page.get_by_role("link", name="TodoDatabaseServer"))
    expect(todo).to_contain_text("OPEN")
    expect(todo).to_contain_text("5 of 5")
    assert plane.stack.call("list_todos")[0] == 503
    operator.check_in_every_look()
    page.once("dialog", lambda dialog: dialog.dismiss())
    todo.get_by_role("button", name="Reset").click()
    expect(todo).to_contain_text("OPEN")
    page.once("dialog", lambda dialog: dialog.accept())
    todo.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("The breaker of mcp:todo is closed.")).to_be_visible()
    expect(todo).to_contain_text("CLOSED")
    assert plane.stack.call("list_todos")[0] == 200
    assert operator.complaints == []
