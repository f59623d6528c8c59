"""What agents are offered, put together in a browser: a prompt, a resource, and a toolset for one client."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Plane
from tests.browser.keys import choose, let_in
from tests.browser.visitor import Visitor
from tests.processes import wait_until

PROMPT, RESOURCE, TOOLSET = "write_briefly", "docs://house-rules", "writers"


def test_client_gets_what_was_put_into_its_toolset_and_nothing_else(operator: Visitor) -> None:
    add_prompt(operator)
    add_resource(operator)
    page = operator.go("/admin/tools/toolset/add/")
    page.fill("[name=slug]", TOOLSET)
    choose(page, "tools", "server_metrics", "list_todos")
    choose(page, "prompts", PROMPT)
    choose(page, "resources", RESOURCE)
    operator.check_in_every_look()
    page.click("[name=_save]")
    agent = let_in(operator, "Writer", TOOLSET)
    offered = {"server_metrics", "list_todos"}
    wait_until(lambda: agent.tools() == offered, what="the tools of the toolset")
    assert agent.call("server_metrics").status == 200
    assert agent.call("create_todo", title="Not mine").status == 404
    page = operator.go(f"/admin/tools/toolset/?q={TOOLSET}")
    expect(page.locator("#result_list tbody tr")).to_contain_text("Writer")
    for model, name in (("prompt", PROMPT), ("resource", RESOURCE)):
        page = operator.go(f"/admin/tools/{model}/?q={name}")
        expect(page.locator("#result_list tbody tr")).to_contain_text(TOOLSET)
        operator.check_in_every_look()
    # What is taken out again is gone for the client.
    page = operator.go(f"/admin/tools/toolset/?q={TOOLSET}")
    page.locator("#result_list").get_by_role("link", name=TOOLSET, exact=True).click()
    chosen = page.locator(".field-tools .select2-selection__choice", has_text="list_todos")
    chosen.locator(".select2-selection__choice__remove").click()
    page.keyboard.press("Escape")
    page.click("[name=_save]")
    wait_until(lambda: agent.tools() == {"server_metrics"}, what="the smaller toolset")
    assert operator.complaints == []


def add_prompt(operator: Visitor) -> None:
    page = operator.go("/admin/tools/prompt/add/")
    page.fill("[name=name]", PROMPT)
    page.fill("[name=description]", "A short text about a topic.")
    page.click("[name=_save]")
    row = page.locator("#result_list tbody tr", has_text=PROMPT)
    # From the example that the form begins with.
    expect(row).to_contain_text("topic")


def add_resource(operator: Visitor) -> None:
    page = operator.go("/admin/tools/resource/add/")
    page.fill("[name=uri]", RESOURCE)
    page.fill("[name=name]", "house-rules")
    page.fill("[name=text]", "Be brief.")
    page.click("[name=_save]")
    row = page.locator("#result_list tbody tr", has_text=RESOURCE)
    expect(row).to_contain_text("9\N{NO-BREAK SPACE}bytes")


def test_answer_that_is_kept_is_seen_in_the_cache_and_forgotten(
    plane: Plane, operator: Visitor
) -> None:
    plane.stack.add_tool("kept_answers")
    page = operator.go("/admin/tools/tool/?q=kept_answers")
    page.locator("#result_list").get_by_role("link", name="kept_answers", exact=True).click()
    page.fill("[name=cache_ttl_seconds]", "600")
    page.locator("[name=_save]").first.click()
    page.wait_for_url("**/tool/?**")

    def from_the_cache() -> bool:
        _, answer = plane.stack.call("kept_answers", delay=0)
        return answer["meta"].get("cache_hit") is True

    wait_until(from_the_cache, what="an answer from the cache")
    page = operator.go("/admin/tools/tool/cache/")
    row = page.get_by_role("row", name="kept_answers")
    expect(row.get_by_role("cell").nth(4)).to_have_text("1")
    operator.check_in_every_look()
    page.get_by_label("Entries of one tool").fill("kept_answers")
    page.get_by_role("button", name="Show", exact=True).click()
    page.once("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Empty all of kept_answers").click()
    expect(page.get_by_text("1 result of kept_answers forgotten.")).to_be_visible()
    expect(row).to_have_count(0)
    assert operator.complaints == []
