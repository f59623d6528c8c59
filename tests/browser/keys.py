"""A program with a key of its own, let in through the admin, and what it gets with it."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import APIResponse, Page

from tests.browser.visitor import Visitor


@dataclass(frozen=True, slots=True)
class Agent:
    """What calls with the key that the admin has shown."""

    visitor: Visitor
    key: str

    def tools(self) -> set[str]:
        """The names of what it is offered; none while its key is not known yet."""
        answer = self.visitor.page.request.get(f"{self.visitor.url}/tools", headers=self._headers())
        return {one["name"] for one in answer.json()["tools"]} if answer.ok else set()

    def call(self, tool: str, **arguments: object) -> APIResponse:
        return self.visitor.page.request.post(
            f"{self.visitor.url}/call-tool",
            data={"tool": tool, "arguments": arguments},
            headers=self._headers(),
        )

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def let_in(visitor: Visitor, name: str, toolset: str) -> Agent:
    """Add an API client that may use the tools of `toolset`."""
    page = visitor.go("/admin/tools/apiclient/add/")
    page.fill("[name=name]", name)
    choose(page, "toolsets", toolset)
    page.click("[name=_save]")
    return Agent(visitor, page.locator("#issued-key").inner_text())


def choose(page: Page, field: str, *wanted: str) -> None:
    """Take these rows in a box for choosing."""
    box = page.locator(f".field-{field} .select2-selection")
    for one in wanted:
        box.click()
        page.keyboard.type(one)
        page.get_by_role("option", name=one, exact=True).click()
