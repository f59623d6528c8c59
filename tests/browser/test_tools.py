"""The pages of tools as an operator uses them: a schema mended while typing, a switch, a file."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Visitor, visiting

TWO = ("server_metrics", "rag_metrics")
BROKEN = '{\n  "type": "object",\n  "properties": {\n    "query": {"type": "strin"}\n  }\n}'


def write_tool(page: Page, name: str) -> None:
    page.fill("#id_name", name)
    page.fill("#id_description", "Searches the notes; use it for questions about meetings.")
    page.select_option("#id_source", "http_api")
    page.fill("#id_handler", "notes")
    # Nothing would answer, and other tests look at the same catalogue.
    page.uncheck("#id_enabled")


def test_a_schema_is_mended_while_it_is_typed(operator: Visitor) -> None:
    page = operator.go("/admin/tools/tool/add/")
    write_tool(page, "typed_notes")
    editor = page.locator(".json-editor", has=page.locator("#id_input_schema"))
    area = page.locator("#id_input_schema")
    area.fill(BROKEN)
    expect(editor.locator(".told")).to_contain_text('"strin" is no type')
    expect(editor.locator(".gutter .marked")).to_have_text("4")
    editor.get_by_role("button", name="Line 4, column 23").click()
    # What stands at the fault is marked; it is typed over.
    expect(area).to_be_focused()
    page.keyboard.press("ArrowLeft")
    for _ in '"strin"':
        page.keyboard.press("Delete")
    page.keyboard.type('"string"')
    expect(editor.locator(".told")).to_contain_text("This can be saved.")
    expect(editor.locator(".schema-table")).to_contain_text("query")
    operator.check_in_every_look()
    # Tab writes; Escape, then Tab, goes on.
    page.keyboard.press("Tab")
    expect(area).to_have_value(BROKEN.replace('"strin"', '"string"  '))
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(area).not_to_be_focused()
    editor.get_by_role("button", name="Format").click()
    expect(area).to_have_value(
        '{\n  "type": "object",\n  "properties": {\n    "query": {\n      "type": "string"\n    }\n  }\n}'
    )
    page.click("[name=_save]")
    expect(page.locator("body")).to_contain_text("was added successfully")
    assert not operator.complaints, operator.complaints


def test_tools_are_switched_and_moved_in_a_file(
    plane: Plane, browser: Browser, tmp_path: Path
) -> None:
    with visiting(browser, plane.url, LOOKS[3]) as visitor:
        visitor.log_in(plane.password)
        page = visitor.go("/admin/tools/tool/?q=server_metrics")
        switch = page.get_by_role("switch", name="server_metrics enabled")
        switch.press("Space")
        expect(switch).to_have_attribute("aria-checked", "false")
        expect(page.locator(".switch-told")).to_have_text("server_metrics is off.")
        status = page.locator("#result_list tbody .field-status_now")
        expect(status).to_have_text("off")
        visitor.check()
        page.reload()
        expect(switch).to_have_attribute("aria-checked", "false")
        file = tmp_path / "tools.yaml"
        page.locator("#result_list .action-select").first.check()
        page.select_option("[name=action]", "export_selected")
        with page.expect_download() as download:
            page.click("button[name=index]")
        download.value.save_as(file)
        switch.press("Space")
        expect(page.locator(".switch-told")).to_have_text("server_metrics is on.")
        expect(status).to_have_text("healthy")
        text = file.read_text(encoding="utf-8")
        assert "enabled: false" in text
        visitor.go("/admin/tools/tool/import/")
        visitor.check()
        page.set_input_files("[name=file]", file)
        page.click("text=Show what it would do")
        expect(page.locator("body")).to_contain_text("0 new, 1 changed")
        visitor.check()
        page.click("[name=save]")
        expect(page.locator("body")).to_contain_text("0 tools added, 1 changed.")
        visitor.go("/admin/tools/tool/?q=server_metrics")
        expect(switch).to_have_attribute("aria-checked", "false")
        # As it was: others use this tool.
        switch.press("Space")
        expect(page.locator(".switch-told")).to_have_text("server_metrics is on.")
        assert not visitor.complaints, visitor.complaints


def test_two_tools_are_switched_off_and_on_together_and_one_is_copied(operator: Visitor) -> None:
    page = operator.go("/admin/tools/tool/?q=metrics")
    switches = [page.get_by_role("switch", name=f"{name} enabled") for name in TWO]
    for action, told, shown in (
        ("disable", "2 tools disabled.", "false"),
        ("enable", "2 tools enabled.", "true"),
    ):
        for name in TWO:
            page.locator("#result_list tbody tr", has_text=name).locator(".action-select").check()
        page.select_option("[name=action]", action)
        page.click("button[name=index]")
        expect(page.get_by_text(told)).to_be_visible()
        for switch in switches:
            expect(switch).to_have_attribute("aria-checked", shown)
    operator.check_in_every_look()
    page.get_by_role("link", name="rag_metrics", exact=True).click()
    expect(page.get_by_role("region", name="Schema as a table").first).to_contain_text("time_range")
    expect(page.locator("#call-curl")).to_contain_text("rag_metrics")
    operator.check_in_every_look()
    description = page.locator("[name=description]").input_value()
    page.get_by_role("link", name="Clone", exact=True).click()
    expect(page.locator("[name=name]")).to_have_value("rag_metrics_copy")
    expect(page.locator("[name=description]")).to_have_value(description)
    expect(page.locator("[name=input_schema]")).to_have_value(re.compile("time_range"))
    expect(page.locator("[name=enabled]")).not_to_be_checked()
    operator.check_in_every_look()
