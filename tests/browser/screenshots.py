"""Takes the pictures of the documentation:

    DJANGO_SETTINGS_MODULE=tests.settings python -m tests.browser.screenshots

Starts the demo without its documents, makes calls for a minute and a half, and looks at the admin.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import django
from playwright.sync_api import sync_playwright

IMAGES: Final = Path(__file__).resolve().parents[2] / "docs" / "images"
SECONDS: Final = 90
CALLS: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("server_metrics", {}),
    ("create_todo", {"title": "Water the plants"}),
    ("rag_metrics", {"time_range": "1h"}),
    ("list_todos", {}),
    ("server_metrics", {}),
    ("list_todos", {"limit": "ten"}),
    ("tool_search", {"query": "remember something for later"}),
)


def main() -> None:
    django.setup()
    # The stack needs models.
    from tests.browser.chromium import chromium
    from tests.browser.visitor import visiting
    from tests.controlplane.stack import stack

    with stack() as made, sync_playwright() as playwright:
        up = made.up().wait_until_running(120)
        password = up.password()
        assert password is not None
        begun, number = time.monotonic(), 0
        while time.monotonic() - begun < SECONDS:
            tool, arguments = CALLS[number % len(CALLS)]
            made.call(tool, **arguments)
            number += 1
            # Busier at some times than at others, as agents are.
            time.sleep(0.05 if number % 40 < 25 else 0.4)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        with visiting(browser, f"http://127.0.0.1:{made.port}") as visitor:
            visitor.log_in(password)
            for name, path in (
                ("dashboard", "/admin/?range=15m"),
                ("request-log", "/admin/tools/toolrequest/"),
            ):
                page = visitor.go(path)
                page.wait_for_load_state("networkidle")
                page.screenshot(path=IMAGES / f"{name}.png", full_page=name == "dashboard")
        browser.close()


if __name__ == "__main__":
    main()
