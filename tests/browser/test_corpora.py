"""A corpus in a browser: files go in, the index is built before one's eyes, searched, and deleted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.conftest import Plane, paused
from tests.browser.corpus import upload
from tests.browser.visitor import LOOKS, Visitor, visiting
from tests.processes import wait_until
from tests.tools.pipelines.reading.files import make_docx, make_pdf, make_zip
from tools.admin.slow_pages import MOST_AT_ONCE, RETRY_SECONDS

TEXTS = {
    "otters.md": "# Otters\n\nOtters hold hands while they sleep.",
    "wale 漢字.txt": "The whale sings at night.",
    "table.csv": "name,age\nAnna,4\n",
    "damaged.pdf": "%PDF-1.7\nnothing",
    "empty.txt": "",
}
ARCHIVE = "more.zip"


def test_documents_go_in_are_indexed_and_found(
    plane: Plane, browser: Browser, operator: Visitor, tmp_path: Path
) -> None:
    for name, content in TEXTS.items():
        (tmp_path / name).write_text(content)
    (tmp_path / ARCHIVE).write_bytes(archive())
    page = operator.go("/admin/tools/corpus/add/")
    page.fill("[name=slug]", "zoo")
    page.click("[name=_save]")
    page.set_input_files("#id_files", [tmp_path / name for name in (*TEXTS, ARCHIVE)])
    told = page.locator("[data-upload-result]")
    # Before anything is sent.
    expect(told).to_contain_text("empty.txt: It is empty")
    page.click("form[data-upload] button[type=submit]")
    expect(told).to_contain_text("6 documents: 6 added.", timeout=20_000)
    expect(told).to_contain_text(
        "Index version 1 is being built. Queries use it once it is active."
    )
    index = page.locator("#corpus-versions")
    # Without a reload.
    expect(index.get_by_text("active", exact=True)).to_be_visible(timeout=90_000)
    expect(index).to_contain_text("5 of 6, 1 failed")
    expect(index).to_contain_text("damaged.pdf: The PDF is damaged.")
    search(page)
    operator.check()
    answer_from(plane, "zoo")
    with paused(plane.stack.processes()["worker"].pid):
        page.get_by_role("button", name="Re-index everything").click()
        expect(
            page.get_by_text("Index version 2 is being built. Queries use it once it is active.")
        ).to_be_visible()
        page.set_input_files("#id_files", moths())
        page.click("form[data-upload] button[type=submit]")
        expect(told).to_contain_text("1 document: 1 added.", timeout=20_000)
        assert answered(plane) == (1, False)
        search(page, "who hangs upside down?", "bats.pdf")
        expect(index).to_contain_text("Version 2 is being built")
    newest = index.locator("tbody tr").first
    expect(newest).to_contain_text("active", timeout=90_000)
    expect(newest.get_by_role("link")).to_have_text("2")
    wait_until(lambda: answered(plane) == (2, True), 60, "answers from the second version")
    search(page, "whose house is carried?", "snails.docx")
    answer_from(plane, "demo")
    take_out(operator, "more/bats.pdf")
    with visiting(browser, plane.url, LOOKS[-1]) as visitor:
        visitor.log_in(plane.password)
        search(visitor.go(urlsplit(page.url).path))
        visitor.check()
        delete(visitor)


def test_upload_waits_for_a_service_that_is_busy(plane: Plane, operator: Visitor) -> None:
    page = operator.go("/admin/tools/corpus/add/")
    page.fill("[name=slug]", "pond")
    page.click("[name=_save]")
    upload(page, [moths()])
    told = page.locator("[data-upload-result]")
    asked = search_of(plane, page)
    with (
        paused(plane.stack.processes()["pipelines"].pid),
        httpx2.Client(timeout=60) as client,
        ThreadPoolExecutor(MOST_AT_ONCE + 1) as people,
    ):
        searches = [people.submit(client.send, asked) for _ in range(MOST_AT_ONCE + 1)]
        # One was refused at once: the others have all the places.
        assert next(as_completed(searches)).result().status_code == 503
        page.set_input_files("#id_files", moths("more.txt"))
        page.click("form[data-upload] button[type=submit]")
        expect(page.locator("[data-upload-note]")).to_have_text(
            f"The service is busy. Sending goes on in {RETRY_SECONDS} s."
        )
    expect(told).to_contain_text("1 document: 1 duplicate.", timeout=60_000)
    assert [("503" in one) for one in operator.complaints] == [True]


def test_script_tells_who_was_logged_out_from_who_may_not(operator: Visitor, plane: Plane) -> None:
    page = operator.go("/admin/tools/corpus/add/")
    page.fill("[name=slug]", "lake")
    page.click("[name=_save]")
    other = Visitor(page.context.new_page(), plane.url)
    told = page.locator("[data-upload-result]")
    log_out(other)
    # The cookies of the next log-in do not fit the page that is open still.
    other.log_in(plane.password)
    page.set_input_files("#id_files", moths())
    page.click("form[data-upload] button[type=submit]")
    expect(told).to_contain_text("or have logged in again since. Reload the page.")
    page.reload()
    log_out(other)
    page.set_input_files("#id_files", moths())
    page.click("form[data-upload] button[type=submit]")
    expect(told).to_contain_text("You are logged out. Log in again, then go on.")


def log_out(visitor: Visitor) -> None:
    """As the menu does."""
    page = visitor.go("/admin/")
    page.locator("#logout-form").evaluate("it => it.submit()")
    expect(page.locator("body")).not_to_contain_text("Welcome,")


def search_of(plane: Plane, page: Page) -> httpx2.Request:
    """A search inside the corpus whose page is open, by the same person in no browser."""
    there = urlsplit(page.url).path.removesuffix("change/") + "search/?q=moths"
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    return httpx2.Request("GET", plane.url + there, headers={"Cookie": cookies})


def moths(name: str = "moths.txt") -> FilePayload:
    """A document to choose."""
    return FilePayload(name=name, mimeType="text/plain", buffer=b"Moths gather around lamps.")


def answer_from(plane: Plane, slug: str) -> None:
    """Let the basic pipeline search this corpus."""
    code = (
        "from tools.models import Corpus, PipelineConfig\n"
        "basic = PipelineConfig.objects.get(pipeline_name='basic')\n"
        f"basic.corpus = Corpus.objects.get(slug={slug!r})\n"
        "basic.save()"
    )
    done = plane.stack.manage("shell", "--no-imports", "-c", code)
    assert done.returncode == 0, done.stderr


def answered(plane: Plane) -> tuple[int, bool]:
    """The index version that a call of an agent is answered from, and whether it has the moths."""
    status, body = plane.stack.call("rag_basic", query="What gathers around lamps?")
    assert status == 200, body
    told = body["data"]
    names = {one["metadata"]["source"] for one in told["retrieved_documents"]}
    return told["metadata"]["index_version"], "moths.txt" in names


def archive() -> bytes:
    """A Word document and a PDF, in a folder."""
    bats = make_pdf(["Bats hang upside down in the barn."])
    snails = make_docx(lambda document: document.add_paragraph("Snails carry their house."))
    return make_zip({"more/bats.pdf": bats, "more/snails.docx": snails})


def search(page: Page, question: str = "who holds hands?", found: str = "otters.md") -> None:
    page.fill("[name=q]", question)
    page.keyboard.press("Enter")
    first = page.locator(".corpus-hit").first
    expect(first).to_contain_text(found, timeout=20_000)
    if found == "otters.md":
        assert first.locator("mark").all_inner_texts() == ["hold", "hands"]


def take_out(visitor: Visitor, name: str) -> None:
    """Delete a document, and follow the way from there to an index without it."""
    page = visitor.page
    page.get_by_role("link", name="7 documents").click()
    address = page.get_by_role("link", name=name, exact=True).first.get_attribute("href") or ""
    visitor.go(f"{urlsplit(address).path.removesuffix('change/')}delete/")
    page.get_by_role("button", name="Yes, I’m sure").click()
    page.get_by_role("link", name="Build it now").click()
    index = page.locator("#corpus-versions")
    expect(index).to_contain_text("version 2, still holds 1 document that is gone")
    visitor.check()
    page.get_by_role("button", name="Build index").click()
    newest = index.locator("tbody tr").first
    expect(newest.get_by_role("link")).to_have_text("3")
    expect(newest).to_contain_text("active", timeout=90_000)
    expect(index).not_to_contain_text("still holds")
    page.fill("[name=q]", "who hangs upside down?")
    page.keyboard.press("Enter")
    expect(page.locator("#corpus-hits")).to_contain_text("in index version 3", timeout=20_000)
    expect(page.locator("#corpus-hits")).not_to_contain_text("bats.pdf")


def delete(visitor: Visitor) -> None:
    """Through the page that says how much goes."""
    page = visitor.go(f"{urlsplit(visitor.page.url).path.removesuffix('change/')}delete/")
    expect(page.locator("body")).to_contain_text("6 documents")
    expect(page.locator("body")).to_contain_text("3 index versions, with their files")
    visitor.check()
    page.get_by_role("button", name="Yes, I’m sure").click()
    page.wait_for_url("**/admin/tools/corpus/")
    expect(page.get_by_role("link", name="zoo", exact=True)).to_have_count(0)
