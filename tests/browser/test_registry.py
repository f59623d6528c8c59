"""The service registry as an operator uses it: a file in, wrappers out."""

from __future__ import annotations

import zipfile
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Plane
from tests.browser.visitor import Visitor

LIST = "/admin/tools/registeredservice/"


def test_services_are_imported_and_wrappers_downloaded(
    plane: Plane, operator: Visitor, tmp_path: Path
) -> None:
    page = operator.go(f"{LIST}wrappers/")
    expect(page.locator("body")).to_contain_text("No service is switched on")
    operator.check_in_every_look()
    page = operator.go(f"{LIST}import/")
    operator.check_in_every_look()
    page.fill(
        "[name=pasted]",
        f"- {{name: control-plane, url: '{plane.url}', key_variable: CONTROL_PLANE_KEY}}\n"
        "- {name: away, url: 'http://127.0.0.1:9'}\n",
    )
    page.get_by_role("button", name="Show what it would do").click()
    expect(page.locator("body")).to_contain_text("New: control-plane, away.")
    operator.check_in_every_look()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#result_list")).to_contain_text("CONTROL_PLANE_KEY")
    page.get_by_role("link", name="Generate wrappers").click()
    operator.check_in_every_look()
    page.get_by_label("TypeScript").uncheck()
    with page.expect_download() as download:
        page.get_by_role("button", name="Generate and download").click()
    download.value.save_as(tmp_path / "wrappers.zip")
    names = zipfile.ZipFile(tmp_path / "wrappers.zip").namelist()
    assert "control-plane/scripts/server_metrics.sh" in names
    assert "control-plane/skills/control-plane-server-metrics/SKILL.md" in names
    assert not any(name.endswith(".ts") for name in names)
    page = operator.go(LIST)
    expect(page.locator("body")).to_contain_text("127.0.0.1:9/tools cannot be reached")
    assert not operator.complaints, operator.complaints
