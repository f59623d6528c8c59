"""Takes the pictures of the documentation:

    make pictures

Starts the demo without its documents, uploads a handbook, makes calls for a minute and a half, and looks at the
admin.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import django
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.corpus import upload

if TYPE_CHECKING:
    from tests.browser.visitor import Visitor
    from tests.controlplane.stack import Stack

PROJECT: Final = Path(__file__).resolve().parents[2]
IMAGES: Final = PROJECT / "docs" / "images"
HANDBOOK: Final = PROJECT / "examples" / "handbook"
SECONDS: Final = 90
WIDTH: Final = 1280
SERVICE: Final = "plane"
QUESTION: Final = "What does a week on call pay?"
# Each with the document that answers it.
ASKED: Final = """What does a week on call pay? | on-call.md
How quickly must a call at night be answered? | on-call.md
What may a hotel cost? | expenses.html
When does the contract with Harrow Cleaning end? | suppliers.csv
Who is asked when something lasts for more than an hour? | on-call.md
What can be bought for a desk? | expenses.html"""
CALLS: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("server_metrics", {}),
    ("create_todo", {"title": "Water the plants"}),
    ("rag_metrics", {"time_range": "1h"}),
    ("rag_basic", {"query": QUESTION}),
    ("list_todos", {}),
    ("server_metrics", {}),
    ("list_todos", {"limit": "ten"}),
    ("tool_search", {"query": "remember something for later"}),
)


def main() -> None:
    django.setup()
    # The stack needs models.
    from tests.browser.chromium import chromium
    from tests.browser.visitor import visiting
    from tests.controlplane.stack import stack

    with stack() as made, sync_playwright() as playwright:
        up = made.up().wait_until_running()
        password = up.password()
        assert password is not None
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        with visiting(browser, f"http://127.0.0.1:{made.port}") as visitor:
            visitor.log_in(password)
            corpus(visitor)
            call(made)
            try_it(visitor)
            compare(visitor)
            evaluate(visitor)
            registry(visitor, f"http://127.0.0.1:{made.port}")
            rest(visitor)
        browser.close()


def call(made: Stack) -> None:
    begun, number = time.monotonic(), 0
    while time.monotonic() - begun < SECONDS:
        tool, arguments = CALLS[number % len(CALLS)]
        made.call(tool, **arguments)
        number += 1
        # Busier at some times than at others, as agents are.
        time.sleep(0.05 if number % 40 < 25 else 0.4)


def corpus(visitor: Visitor) -> None:
    page = visitor.go("/admin/tools/corpus/")
    page.get_by_role("link", name="demo", exact=True).click()
    upload(page, sorted(HANDBOOK.iterdir()))
    page.fill("[name=q]", "What may a hotel cost?")
    page.keyboard.press("Enter")
    expect(page.locator(".corpus-hit").first).to_be_visible(timeout=20_000)
    take(page, "corpus", height=1100)


def try_it(visitor: Visitor) -> None:
    page = visitor.go("/admin/tools/tool/try/?q=rag_basic")
    page.get_by_role("link", name="rag_basic", exact=True).click()
    page.get_by_label("query").first.fill(QUESTION)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#result")).to_contain_text("Succeeded in", timeout=60_000)
    page.locator("#result").scroll_into_view_if_needed()
    take(page, "try-it", height=1100)


def compare(visitor: Visitor) -> None:
    page = visitor.go("/admin/tools/pipelineconfig/compare/")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("[data-busy=yes]")).to_have_count(0, timeout=60_000)
    take(page, "compare", height=1100)


def evaluate(visitor: Visitor) -> None:
    page = visitor.go("/admin/tools/questionset/add/")
    page.fill("[name=name]", "handbook")
    page.locator(".field-corpus .select2-selection").click()
    page.locator(".select2-results__option", has_text="demo").first.click()
    page.fill("[name=typed]", ASKED)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="never: evaluate it").click()
    page.get_by_role("button", name="Start").click()
    latest = page.get_by_role("region", name="Latest evaluation")
    expect(latest).to_have_attribute("data-busy", "no", timeout=60_000)
    expect(page.get_by_role("group", name="nDCG@10")).to_be_visible()
    take(page, "evaluate", height=1100)


def registry(visitor: Visitor, address: str) -> None:
    page = visitor.go("/admin/tools/registeredservice/import/")
    services = ((SERVICE, address), ("away", "http://127.0.0.1:9"))
    page.fill(
        "[name=pasted]", "\n".join(f"- {{name: {name}, url: '{url}'}}" for name, url in services)
    )
    page.get_by_role("button", name="Show what it would do").click()
    page.get_by_role("button", name="Save").click()
    page = visitor.go("/admin/tools/registeredservice/wrappers/")
    with page.expect_download():
        page.get_by_role("button", name="Generate and download").click()
    visitor.go("/admin/tools/registeredservice/")
    take(visitor.page, "service-registry")


def rest(visitor: Visitor) -> None:
    visitor.go("/admin/?range=15m")
    take(visitor.page, "dashboard", full=True)
    page = visitor.go("/admin/tools/toolrequest/?tool__exact=rag_basic")
    # The time of a call leads to it; what else stands in a row are filters.
    page.locator("#result_list tbody th a").last.click()
    expect(page.get_by_role("heading", name="Life of the call")).to_be_visible()
    take(page, "call", height=1100)
    visitor.go("/admin/tools/toolrequest/")
    take(visitor.page, "request-log")
    visitor.go("/admin/health/healthsnapshot/?span=1h")
    take(visitor.page, "health-history")
    visitor.go("/admin/tools/auditentry/")
    take(visitor.page, "audit-trail")
    visitor.go("/admin/tools/tool/")
    take(visitor.page, "tools")
    visitor.go("/admin/tools/upstreamserver/")
    visitor.page.locator("#result_list a[href*='/change/']").first.click()
    take(visitor.page, "mcp-server", height=1100)
    visitor.go("/admin/tools/apiclient/connect/")
    take(visitor.page, "connect")


def take(page: Page, name: str, *, height: int = 900, full: bool = False) -> None:
    page.wait_for_load_state("networkidle")
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.screenshot(path=IMAGES / f"{name}.png", full_page=full)


if __name__ == "__main__":
    main()
