"""Somebody with a browser in front of the admin, and what their browser complains of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from tests.node_env import node_packages

HEIGHT: Final = 900
# What keeps people from using a page; the rest is a matter of taste.
GRAVE: Final = {"serious", "critical"}
AUDIT: Final = """
async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
  (one) => [one.impact, one.id, one.help, one.nodes.map((node) => node.target.join(" ") + " " + node.failureSummary)]
)
"""


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is looked at."""

    scheme: str
    width: int


LOOKS: Final = tuple(Look(scheme, width) for scheme in ("light", "dark") for width in (1280, 390))


@dataclass
class Visitor:
    """A page of the browser. `complaints` has errors of the console and requests to other hosts."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        self.page.on("request", self._on_request)

    def go(self, path: str) -> Page:
        """Open a page of the control plane; it answers with 200."""
        answer = self.page.goto(self.url + path)
        assert answer is not None
        assert answer.status == 200, path
        return self.page

    def log_in(self, password: str, name: str = "admin") -> None:
        self.go("/admin/login/")
        self.page.fill("[name=username]", name)
        self.page.fill("[name=password]", password)
        self.page.click("[type=submit]")
        self.page.wait_for_url("**/admin/")

    def check(self) -> None:
        """The page fits its width, names everything, and the browser has nothing to complain of."""
        wide = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, f"{self.page.url} is {wide} pixels too wide"
        found = self.grave()
        assert not found, found
        assert not self.complaints, self.complaints

    def grave(self) -> list[Any]:
        """What axe-core finds that keeps people from using the page."""
        self.page.evaluate(_axe())
        return [one for one in self.page.evaluate(AUDIT) if one[0] in GRAVE]

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _on_request(self, request: Request) -> None:
        told = urlsplit(request.url)
        if told.scheme in {"http", "https"} and told.netloc != urlsplit(self.url).netloc:
            self.complaints.append(f"a request to {request.url}")


@contextmanager
def visiting(browser: Browser, url: str, look: Look = LOOKS[0]) -> Iterator[Visitor]:
    """A visitor with cookies of their own."""
    context = browser.new_context(
        viewport={"width": look.width, "height": HEIGHT},
        color_scheme="dark" if look.scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    try:
        yield Visitor(context.new_page(), url)
    finally:
        context.close()


@cache
def _axe() -> str:
    return (node_packages() / "axe-core" / "axe.min.js").read_text()
