"""Somebody with a browser in front of the admin, and what their browser complains of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from tests.node_env import node_packages

HEIGHT: Final = 900
# What keeps people from using a page; the rest is a matter of taste.
GRAVE: Final = {"serious", "critical"}
AUDIT: Final = """
async () => (await axe.run(document, {resultTypes: ["violations"], preload: false})).violations.map(
  (one) => [one.impact, one.id, one.help, one.nodes.map((node) => node.target.join(" ") + " " + node.failureSummary)]
)
"""
# Rows of lists whose text is higher than the room it has.
CUT: Final = """
() => [...document.querySelectorAll("#result_list th, #result_list td")]
  .filter((one) => getComputedStyle(one).overflowY === "hidden" && one.scrollHeight > one.clientHeight + 2)
  .map((one) => one.innerText)
"""
# The theme asks for the person's colours when a page is opened, and again when its own switch is moved.
RENEW_COLOURS: Final = """
async () => {
  const theme = Alpine.$data(document.documentElement);
  theme.adminTheme = "light";
  theme.adminTheme = "auto";
  await Alpine.nextTick();
  await new Promise(requestAnimationFrame);
  const changing = document.getAnimations().filter((one) => one instanceof CSSTransition);
  await Promise.allSettled(changing.map((one) => one.finished));
  return document.documentElement.classList.contains("dark") ? "dark" : "light";
}
"""


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is looked at."""

    scheme: str
    width: int


LOOKS: Final = tuple(Look(scheme, width) for scheme in ("light", "dark") for width in (1280, 390))
LIGHT_WIDE, LIGHT_NARROW, DARK_WIDE, DARK_NARROW = LOOKS


def seen_in(*looks: Look) -> pytest.MarkDecorator:
    """For a test that takes a `look`: it goes the whole way in each of these."""
    return pytest.mark.parametrize("look", looks, ids=lambda look: f"{look.scheme}-{look.width}")


@dataclass
class Visitor:
    """A page of the browser. `complaints` has errors of the console and requests to other hosts."""

    page: Page
    url: str
    look: Look = LIGHT_WIDE
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
        """In both colours at this width, of the page as it stands; then it is as before."""
        self._check_in(*(look for look in LOOKS if look.width == self.look.width))

    def check_in_every_look(self) -> None:
        """The same at both widths."""
        self._check_in(*LOOKS)

    def _check_in(self, *looks: Look) -> None:
        before = self.look
        for look in (before, *(one for one in looks if one != before)):
            self.turn(look)
            self._check_this()
        self.turn(before)

    def _check_this(self) -> None:
        """The page fits its width, cuts no row, names everything, and the browser has nothing to complain of."""
        # Behind a link that was just followed the next page may not have begun yet.
        self.page.wait_for_load_state()
        wide = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, f"{self.page.url} is {wide} pixels too wide, {self.look}"
        cut = self.page.evaluate(CUT)
        assert not cut, f"{self.page.url} cuts {cut[:3]}, {self.look}"
        found = self.grave()
        assert not found, (self.page.url, self.look, found)
        assert not self.complaints, self.complaints

    def turn(self, look: Look) -> None:
        """Look at the open page in another way, without loading it again."""
        if look == self.look:
            return
        self.page.set_viewport_size({"width": look.width, "height": HEIGHT})
        self.page.emulate_media(color_scheme="dark" if look.scheme == "dark" else "light")
        assert self.page.evaluate(RENEW_COLOURS) == look.scheme, self.page.url
        self.look = look

    def grave(self) -> list[Any]:
        """What axe-core finds that keeps people from using the page."""
        if not self.page.evaluate("'axe' in window"):
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
        yield Visitor(context.new_page(), url, look)
    finally:
        context.close()


@cache
def _axe() -> str:
    return (node_packages() / "axe-core" / "axe.min.js").read_text()
