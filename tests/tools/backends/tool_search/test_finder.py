"""Searching by meaning: ready or not, changed or not, kept on disk or not."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.backends.tool_search.embedders import Handled, not_installed
from tests.tools.backends.tool_search.shelf import SHELF, shelf_tool
from tools.backends.tool_search.finder import Finder, Found
from tools.backends.tool_search.ranking import BOTH, WORDS
from tools.contracts import ToolSpec

PARCEL = "where is my package"
TOOLS = [spec for spec in SHELF if spec.name.startswith(("ship", "home", "hr_"))]


@pytest.fixture
def model() -> Iterator[Handled]:
    handled = Handled()
    yield handled
    handled.gate.set()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "models" / "tools.sqlite3"


def finder(model: Handled, kept: Path, patience: float = 30) -> Finder:
    return Finder(model.load, lambda: kept, patience=patience)


async def found_by_meaning(finder: Finder, query: str, specs: list[ToolSpec]) -> Found:
    """The first answer that meaning has a part in."""
    async with asyncio.timeout(30):
        while (found := await finder.find(query, specs)).matching == WORDS:
            await asyncio.sleep(0.01)
    return found


def names(found: Found) -> list[str]:
    return [match.spec.name for match in found.matches]


async def test_what_no_word_tells_is_found_by_meaning(model: Handled, kept: Path) -> None:
    found = await finder(model, kept).find(PARCEL, TOOLS)
    assert found.matching == BOTH
    assert names(found)[0] == "shipment_track"
    assert 0 < found.matches[0].score < 1


async def test_without_the_model_words_alone_answer_and_the_operator_is_told_once(
    kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    without = Finder(not_installed, lambda: kept)
    for _ in range(2):
        found = await without.find("track a parcel", TOOLS)
        assert found.matching == WORDS
        assert names(found)[0] == "shipment_track"
    assert [record.getMessage() for record in caplog.records] == [
        "Tools are searched by words alone: the weights are not installed"
    ]


async def test_while_vectors_are_computed_words_answer_and_later_meaning_does(
    model: Handled, kept: Path
) -> None:
    model.gate.clear()
    searched = finder(model, kept, patience=0)
    assert (await searched.find("track a parcel", TOOLS)).matching == WORDS
    model.gate.set()
    await found_by_meaning(searched, "track a parcel", TOOLS)
    assert model.loads == 1


async def test_searches_by_words_go_on_while_the_model_is_busy(model: Handled, kept: Path) -> None:
    model.gate.clear()
    searched = finder(model, kept, patience=0)
    found = await asyncio.gather(*(searched.find("track", TOOLS) for _ in range(20)))
    assert {one.matching for one in found} == {WORDS}
    assert {names(one)[0] for one in found} == {"shipment_track"}


async def test_a_tool_is_embedded_once_over_searches_and_starts(model: Handled, kept: Path) -> None:
    first = finder(model, kept)
    await first.find(PARCEL, TOOLS)
    await first.find("a warmer room", TOOLS)
    texts = [text for text in model.seen if text not in {PARCEL, "a warmer room"}]
    assert len(texts) == len(set(texts)) == 2 * len(TOOLS)
    model.seen.clear()
    again = await finder(model, kept).find(PARCEL, TOOLS)
    assert model.seen == [PARCEL]
    assert names(again)[0] == "shipment_track"


async def test_a_changed_tool_is_found_by_its_new_words_at_once_and_by_its_new_meaning(
    model: Handled, kept: Path
) -> None:
    searched = finder(model, kept, patience=0)
    tool = shelf_tool("gadget", "Measures the moisture of soil in flower pots.")
    await found_by_meaning(searched, "soil", [*TOOLS, tool])
    changed = replace(tool, description="Plays chess against a person.")
    model.gate.clear()
    at_once = await searched.find("chess", [*TOOLS, changed])
    assert (at_once.matching, names(at_once)) == (WORDS, ["gadget"])
    model.gate.set()
    found = await found_by_meaning(searched, "a board game", [*TOOLS, changed])
    assert names(found)[0] == "gadget"
    assert "gadget" not in names(await searched.find("soil moisture", [*TOOLS, changed]))[:1]


async def test_a_renewed_catalogue_with_the_same_tools_costs_nothing(
    model: Handled, kept: Path
) -> None:
    searched = finder(model, kept)
    await searched.find(PARCEL, TOOLS)
    model.seen.clear()
    await searched.find(PARCEL, [replace(spec) for spec in TOOLS])
    assert model.seen == [PARCEL]


async def test_tools_outside_the_search_have_no_influence(model: Handled, kept: Path) -> None:
    # A word that is common among hidden tools would count less if those were looked at.
    hidden = [shelf_tool(f"secret_{n}", "Tracks a parcel in secret.") for n in range(50)]
    alone = await finder(model, kept).find("track a parcel", TOOLS)
    beside = finder(model, kept)
    await beside.find("track a parcel", [*TOOLS, *hidden])
    after = await beside.find("track a parcel", TOOLS)
    assert after == alone


async def test_a_fault_of_the_model_leaves_words_and_passes(
    model: Handled, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = 1000.0
    searched = Finder(model.load, lambda: kept, patience=30, clock=lambda: now)
    model.fault = RuntimeError("out of memory")
    assert (await searched.find("track", TOOLS)).matching == WORDS
    assert caplog.records[-1].levelno == logging.ERROR
    model.fault = None
    assert (await searched.find("track", TOOLS)).matching == WORDS
    now += 61
    assert (await searched.find("track", TOOLS)).matching == BOTH


async def test_a_spoilt_file_of_vectors_is_no_obstacle(
    model: Handled, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept.parent.mkdir()
    kept.write_bytes(b"this is no database " * 100)
    assert (await finder(model, kept).find(PARCEL, TOOLS)).matching == BOTH
    assert "Vectors of tools are not read" in caplog.text


async def test_vectors_of_another_size_are_not_used(model: Handled, kept: Path) -> None:
    await finder(model, kept).find(PARCEL, TOOLS)
    with sqlite3.connect(kept) as database:
        database.execute("UPDATE vectors SET vector = x'00'")
    database.close()
    assert (await finder(model, kept).find(PARCEL, TOOLS)).matching == BOTH
    assert len(model.seen) > 2 * len(TOOLS) + 2


async def test_a_folder_that_cannot_be_written_is_no_obstacle(
    model: Handled, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    found = await finder(model, tmp_path / "file" / "tools.sqlite3").find(PARCEL, TOOLS)
    assert found.matching == BOTH
    assert "Vectors of tools are not kept" in caplog.text


async def test_a_named_tool_comes_first(model: Handled, kept: Path) -> None:
    searched = finder(model, kept)
    queries = ("home_lights", "Home Lights", "home-lights", "use home_lights to track a shipment")
    for query in queries:
        first = (await searched.find(query, TOOLS)).matches[0]
        assert (first.spec.name, first.score) == ("home_lights", 1.0), query


async def test_nothing_near_is_an_empty_answer(model: Handled, kept: Path) -> None:
    found = await finder(model, kept).find("quantum chromodynamics on a lattice", TOOLS[:3])
    assert found == Found(BOTH, [])
    nothing: list[ToolSpec] = []
    assert (await finder(model, kept).find("track", nothing)).matches == []


async def test_a_new_event_loop_goes_on_where_the_old_one_stopped(
    model: Handled, kept: Path
) -> None:
    searched = finder(model, kept, patience=0.01)
    model.gate.clear()
    found = await asyncio.to_thread(asyncio.run, searched.find("track", TOOLS))
    assert found.matching == WORDS
    model.gate.set()
    await found_by_meaning(searched, "track", TOOLS)
