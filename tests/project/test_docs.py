"""The documents lead somewhere, and what the README shows is what the code answers now."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest

from tests.doors import RestDoor
from tests.factories import make_client
from tests.processes import wait_until
from tests.project.pages import PROJECT, anchors, fenced, links, read, tracked
from tools.models import Toolset
from tools.services.seed_demo import seed_demo
from tools.techniques import ANSWER_SCHEMA

MARKDOWN = tracked("*.md")
README = read(PROJECT / "README.md")
DOCS = PROJECT / "docs"
TUTORIAL = read(DOCS / "tutorial" / "first-tool-call.md")
NUMBERS = {15: "fifteen", 16: "sixteen", 17: "seventeen"}


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_relative_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    for link in links(read(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, fragment = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{link} leads nowhere"
        if fragment:
            assert fragment in anchors(read(file)), f"{link}: no such heading"


def test_every_page_can_be_reached_from_the_index() -> None:
    # F0-24
    index = DOCS / "README.md"
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links(read(index))}
    pages = {page for page in MARKDOWN if page.is_relative_to(DOCS) and page != index}
    assert sorted(page.name for page in pages - linked) == []


def test_every_picture_is_used() -> None:
    shown = {
        (page.parent / link).resolve()
        for page in MARKDOWN
        for link in links(read(page))
        if link.endswith(".png")
    }
    assert set((DOCS / "images").glob("*")) == shown


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_json_in_the_documents_is_json(page: Path) -> None:
    for block in fenced(read(page), "json"):
        json.loads(block)


def test_the_answers_in_the_readme_have_the_keys_the_code_gives_now(door: RestDoor) -> None:
    # F3-01 F3-29
    seed_demo()
    tool, call, health = (json.loads(block) for block in fenced(README, "json"))
    listed = door.get("/tools").json()["tools"]
    assert tool in listed
    assert f"the same {NUMBERS[len(listed)]} tools" in README
    assert f"{NUMBERS[len(listed)]} tools" in TUTORIAL
    # No worker is there to ask; what a pipeline answers is fixed by its schema.
    metrics = door.call("rag_metrics").json()
    assert set(call) == set(metrics)
    assert set(call["meta"]) == set(metrics["meta"])
    jsonschema_rs.validate(dict(ANSWER_SCHEMA), call["data"])
    assert set(health) == set(door.get("/health").json())
    # The catalogue is looked at again, and so is what it names.
    wait_until(
        lambda: set(door.get("/health").json()["dependencies"]) == set(health["dependencies"]),
        what="the dependencies of the page",
    )
    for one in health["dependencies"].values():
        assert set(one) - {"details"} == {"status", "response_time_ms"}


def test_the_readme_prints_what_a_start_prints() -> None:
    from controlplane import __version__

    printed = fenced(README, "text")[0]
    assert f"MCP control plane {__version__}, state in " in printed
    for line in ("MCP", "Agents", "REST API", "API docs", "Health", "Admin", "User", "Password"):
        assert f"\n  {line} " in printed
    assert "A first call:" in printed


@pytest.mark.parametrize("page", [README, TUTORIAL], ids=["readme", "tutorial"])
def test_the_agent_on_the_page_prints_what_the_page_says(door: RestDoor, page: str) -> None:
    seed_demo()
    _, key = make_client(toolsets=[Toolset.objects.get(slug="all")])
    door.start()
    program = fenced(page, "python")[0].replace("http://127.0.0.1:8000", door.url)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CONTROL_PLANE_KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == (fenced(page, "text")[-1], "")


def test_no_document_holds_a_key_or_a_password() -> None:
    for page in MARKDOWN:
        assert not re.search(r"\bcp_[A-Za-z0-9_-]{20,}", read(page)), page
        assert not re.search(r"^\s*Password\s+[A-Za-z0-9]{16}\s", read(page), re.MULTILINE), page
