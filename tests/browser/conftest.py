"""One control plane and one browser for all tests here."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import chromium
from tests.browser.visitor import LIGHT_WIDE, Look, Visitor, visiting
from tests.controlplane.stack import Stack, Up, stack


@dataclass(frozen=True, slots=True)
class Plane:
    """A running control plane, and what its start has printed."""

    stack: Stack
    url: str
    password: str
    output: str


@pytest.fixture(scope="package")
def plane() -> Iterator[Plane]:
    with stack() as made:
        yield started(made, made.up())


def started(made: Stack, up: Up, **patience: float) -> Plane:
    """The control plane that it starts, once it is there."""
    up.wait_until_running(**patience)
    password = up.password()
    assert password is not None
    return Plane(made, f"http://127.0.0.1:{made.port}", password, up.output)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # As root, and in containers, Chromium cannot put its processes in a sandbox; it sees our own pages only.
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def look() -> Look:
    """How the operator looks at pages; tests that are `seen_in` several say so themselves."""
    return LIGHT_WIDE


@pytest.fixture
def operator(plane: Plane, browser: Browser, look: Look) -> Iterator[Visitor]:
    """The administrator, logged in with the password that the start printed."""
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        yield visitor


@contextmanager
def paused(pid: int) -> Iterator[None]:
    """A process that is there and does nothing."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
