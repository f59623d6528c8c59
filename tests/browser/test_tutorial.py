"""The tutorial for operators, step by step, with what its page says."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import expect

from controlplane.env import PROJECT_DIR
from tests.browser.conftest import Plane, started
from tests.browser.corpus import upload
from tests.browser.visitor import Visitor
from tests.controlplane.stack import stack
from tests.processes import wait_until

PAGE: Final = (PROJECT_DIR / "docs/tutorial/first-morning-in-the-admin.md").read_text()
HANDBOOK: Final = PROJECT_DIR / "examples" / "handbook"
QUESTION: Final = "What does a week on call pay?"
CLIENT: Final = "handbook-agent"
# A guard: on a busy machine the first index takes minutes.
INDEXED_WITHIN: Final = 900.0


@pytest.fixture
def plane() -> Iterator[Plane]:
    """What a newcomer has: just started, with the documents of the demo."""
    with stack() as made:
        yield started(made, made.up(corpus=True), seconds=INDEXED_WITHIN)


def test_a_newcomer_gets_from_the_printed_password_to_a_call_in_the_log(operator: Visitor) -> None:
    add_documents(operator)
    ask(operator)
    command = make_a_key(operator)
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 - wherever the system has it
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["success"] is True
    find(operator)
    assert operator.complaints == []


def add_documents(operator: Visitor) -> None:
    page = operator.page
    choose(operator, "Corpora")
    page.get_by_role("link", name=said("demo"), exact=True).click()
    upload(page, sorted(HANDBOOK.iterdir()))
    expect(page.locator("[data-upload-result]")).to_contain_text(said("3 documents: 3 added."))
    operator.check_in_every_look()
    # What is pressed and waited for in there is on the page, too.
    assert said("Upload")
    assert said("active")


def ask(operator: Visitor) -> None:
    page = operator.page
    choose(operator, "Try it")
    page.get_by_role("link", name=said("rag_basic"), exact=True).click()
    page.get_by_label(said("query"), exact=False).first.fill(written(QUESTION))
    page.get_by_role("button", name=said("Run"), exact=True).click()
    expect(page.locator("#result")).to_contain_text("Succeeded in", timeout=60_000)
    operator.check_in_every_look()
    answer = json.loads(page.locator("#answer").inner_text())["data"]
    assert written("320 crowns") in answer["answer"]
    assert said("on-call.md") in answer["sources"][0]


def make_a_key(operator: Visitor) -> str:
    """The command that the page shows."""
    page = operator.page
    choose(operator, "API clients")
    page.locator("a[href$='/apiclient/add/']").first.click()
    page.fill("[name=name]", said(CLIENT))
    page.click(".select2-selection")
    page.get_by_role("option", name=said("all"), exact=True).click()
    page.click("[name=_save]")
    expect(page.get_by_text("it is not shown again")).to_be_visible()
    operator.check_in_every_look()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-copy=key-command]")
    return str(page.evaluate("navigator.clipboard.readText()"))


def find(operator: Visitor) -> None:
    page = operator.page
    choose(operator, "Calls")

    def logged() -> bool:
        page.reload()
        return CLIENT in page.locator("#result_list tbody tr").first.inner_text()

    wait_until(logged, what="the call in the log")
    page.locator("#result_list tbody tr a").first.click()
    expect(page.get_by_role("link", name=said("Replay"), exact=True)).to_be_visible()
    expect(page.locator("body")).to_contain_text(CLIENT)
    operator.check_in_every_look()


def choose(operator: Visitor, entry: str) -> None:
    """An entry of the side bar; a click lands on its page."""
    link = operator.page.locator("aside a, nav a").filter(
        has_text=re.compile(rf"\b{said(entry)}\s*$")
    )
    address = str(link.first.get_attribute("href"))
    link.first.click()
    operator.page.wait_for_url(f"**{address}")


def said(words: str) -> str:
    """What the tutorial names, in bold or as it stands on the screen; where it changes, so does this test."""
    assert f"**{words}**" in PAGE or f"`{words}`" in PAGE, words
    return words


def written(words: str) -> str:
    """What the tutorial says in its running text."""
    assert words in PAGE, words
    return words
