"""The notes on decisions are numbered without gaps, and the index names each."""

from __future__ import annotations

import re

from tests.project.pages import PROJECT, read

FOLDER = PROJECT / "docs" / "explanation" / "decisions"
NOTES = sorted(FOLDER.glob("*.md"))


def test_numbers_are_unique_and_consecutive_from_one() -> None:
    assert all(re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", path.name) for path in NOTES)
    assert [int(path.name[:4]) for path in NOTES] == list(range(1, len(NOTES) + 1))


def test_the_title_carries_the_number() -> None:
    for path in NOTES:
        assert read(path).startswith(f"# {int(path.name[:4])}. "), path.name


def test_the_index_links_each_note() -> None:
    index = read(PROJECT / "docs" / "README.md")
    assert [path.name for path in NOTES if f"decisions/{path.name})" not in index] == []
