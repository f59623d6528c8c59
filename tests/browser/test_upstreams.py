"""An MCP server in a browser: its program dies and comes back, and what it offers is decided on."""

from __future__ import annotations

import os
import re
import signal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Visitor, visiting
from tests.processes import wait_until

TOOL = "search_todos"
# As if something else had been approved than the server says.
OTHERWISE = f"""
from tools.models import Tool, UpstreamItem
from tools.upstreams import Kind, fingerprint
item = UpstreamItem.objects.get(remote_name={TOOL!r})
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
    with visiting(browser, plane.url, LOOKS[-1]) as visitor:
        visitor.log_in(plane.password)
        server_page(visitor)
        expect(visitor.page.get_by_role("log").first).to_contain_text("SIGKILL")
        visitor.check()


def test_what_a_server_has_changed_is_shown_and_approved(
    plane: Plane, browser: Browser, operator: Visitor
) -> None:
    made = plane.stack.manage("shell", "--no-imports", "-c", OTHERWISE)
    assert made.returncode == 0, made.stderr
    server_page(operator)
    page = operator.page
    page.get_by_role("button", name="Refresh tools").click()
    waits = page.get_by_role("link", name="1 waits for a decision")
    expect(waits).to_be_visible(timeout=20_000)
    assert plane.stack.call(TOOL, query="plants")[0] != 200
    waits.click()
    page.get_by_role("link", name=TOOL).first.click()
    expect(page.get_by_role("heading", name="It was changed since it was approved")).to_be_visible()
    # Word by word.
    expect(page.locator("del", has_text="alone")).to_be_visible()
    expect(page.locator("ins", has_text="keyword")).to_be_visible()
    operator.check()
    with visiting(browser, plane.url, LOOKS[-1]) as visitor:
        visitor.log_in(plane.password)
        visitor.go(urlsplit(page.url).path)
        visitor.check()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("approved").first).to_be_visible()
    wait_until(lambda: plane.stack.call(TOOL, query="plants")[0] == 200, what="the approved tool")
    assert operator.complaints == []


def test_an_open_breaker_is_shown_and_closed_by_hand(plane: Plane, operator: Visitor) -> None:
    made = plane.stack.manage("shell", "--no-imports", "-c", FAILING)
    assert made.returncode == 0, made.stderr
    page = operator.go("/admin/tools/upstreamserver/breakers/")
    todo = page.locator("section", has=page.get_by_role("link", name="TodoDatabaseServer"))
    expect(todo).to_contain_text("OPEN")
    expect(todo).to_contain_text("5 of 5")
    assert plane.stack.call("list_todos")[0] == 503
    operator.check()
    page.once("dialog", lambda dialog: dialog.dismiss())
    todo.get_by_role("button", name="Reset").click()
    expect(todo).to_contain_text("OPEN")
    page.once("dialog", lambda dialog: dialog.accept())
    todo.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("The breaker of mcp:todo is closed.")).to_be_visible()
    expect(todo).to_contain_text("CLOSED")
    assert plane.stack.call("list_todos")[0] == 200
    assert operator.complaints == []
