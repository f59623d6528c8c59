"""Pages whose rows have names and texts of one long word, as other people's servers and files may."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import long_names
from tests.browser.conftest import Plane
from tests.browser.visitor import DARK_NARROW, LIGHT_WIDE, Visitor, visiting
from tests.processes import wait_until


@pytest.fixture
def paths(plane: Plane) -> Iterator[list[str]]:
    yield json.loads(_run(plane, "print(json.dumps(long_names.put()))"))
    _run(plane, "long_names.take_away()")


def _run(plane: Plane, line: str) -> str:
    code = f"import json\nfrom tests.browser import long_names\n{line}"
    done = plane.stack.manage("shell", "--no-imports", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_name_makes_a_page_wider_than_the_screen(
    plane: Plane, browser: Browser, paths: list[str]
) -> None:
    with visiting(browser, plane.url, DARK_NARROW) as visitor:
        visitor.log_in(plane.password)
        for path in paths:
            visitor.go(path)
            visitor.check()
            visitor.turn(LIGHT_WIDE)
            visitor.check()
            visitor.turn(DARK_NARROW)
        make_a_key(visitor)
        switch_it_off(visitor, next(path for path in paths if "/apiclient/" in path))


def make_a_key(visitor: Visitor) -> None:
    """For a client that may call the tool of the long name."""
    page = visitor.go("/admin/tools/apiclient/add/")
    page.fill("[name=name]", long_names.word(99))
    page.click(".select2-selection")
    page.get_by_role("option", name=long_names.word(64)).click()
    page.click("[name=_save]")
    expect(page.locator("#key-command")).to_contain_text(long_names.word(64))
    visitor.check()


def switch_it_off(visitor: Visitor, path: str) -> None:
    """The message names it."""
    page = visitor.go(path)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke now").click()
    expect(page.get_by_text("is off: its keys are refused within a second")).to_be_visible()
    visitor.check()


def test_times_of_calls_are_on_one_line_on_a_phone(plane: Plane, browser: Browser) -> None:
    plane.stack.call("server_metrics")
    with visiting(browser, plane.url, DARK_NARROW) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/tools/tool/?q=server_metrics")
        page.get_by_role("link", name="server_metrics", exact=True).click()
        times = page.get_by_role("region", name="Latest calls").get_by_role("link")

        def logged() -> bool:
            page.reload()
            return times.count() > 0

        wait_until(logged, what="the call on the page of its tool")
        box = times.first.bounding_box()
        assert box is not None
        # Beside each other: a table scrolls where it stands.
        assert box["width"] > 4 * box["height"]
