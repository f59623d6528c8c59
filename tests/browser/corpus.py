"""Uploads to a corpus, as its page does them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import FilePayload, Page, expect

PATIENCE = 90_000


def upload(page: Page, files: Sequence[Path] | Sequence[FilePayload]) -> None:
    """Send them from the page of a corpus; wait until what they add can be found."""
    page.set_input_files("#id_files", files)
    page.get_by_role("button", name="Upload", exact=True).click()
    told = page.locator("[data-upload-result]")
    expect(told).to_contain_text("is being built", timeout=PATIENCE)
    # The table shows the index before this one as active until it has been renewed.
    building = re.search(r"Index version (\d+) is being built", told.inner_text())
    assert building is not None
    newest = page.locator("#corpus-versions tbody tr").first
    expect(newest.get_by_role("link")).to_have_text(building[1], timeout=PATIENCE)
    expect(newest.get_by_text("active", exact=True)).to_be_visible(timeout=PATIENCE)
