"""Finds a Chromium, or installs Debian's."""

from __future__ import annotations

from typing import Final

from tests.debian import program

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """The program's path.

    Raises:
        RuntimeError: there is none, and it cannot be installed here.
    """
    return program("chromium", NAMES, "The tests of the admin")
