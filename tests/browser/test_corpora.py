"""A corpus in a browser: files go in, the index is built before one's eyes, searched, and deleted."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Visitor, visiting
from tests.tools.pipelines.reading.files import make_docx, make_pdf, make_zip

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
    page.get_by_role("button", name="Re-index everything").click()
    expect(
        page.get_by_text("Index version 2 is being built. Queries use it once it is active.")
    ).to_be_visible()
    # From the first version, for as long as the second is being built.
    search(page, "who hangs upside down?", "bats.pdf")
    newest = index.locator("tbody tr").first
    expect(newest).to_contain_text("active", timeout=90_000)
    expect(newest.get_by_role("link")).to_have_text("2")
    search(page, "whose house is carried?", "snails.docx")
    take_out(operator, "more/bats.pdf")
    with visiting(browser, plane.url, LOOKS[-1]) as visitor:
        visitor.log_in(plane.password)
        search(visitor.go(urlsplit(page.url).path))
        visitor.check()
        delete(visitor)


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
    page.get_by_role("link", name="6 documents").click()
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
    expect(page.locator("body")).to_contain_text("5 documents")
    expect(page.locator("body")).to_contain_text("3 index versions, with their files")
    visitor.check()
    page.get_by_role("button", name="Yes, I’m sure").click()
    page.wait_for_url("**/admin/tools/corpus/")
    expect(page.get_by_role("link", name="zoo", exact=True)).to_have_count(0)
