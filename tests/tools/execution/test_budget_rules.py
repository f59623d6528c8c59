"""The budget stage with rules that a tool brings in its binding."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import pytest

from tests.tools.context.nsip_data import nsip_answers
from tests.tools.execution.test_budget import CALLER, REQUEST_ID, Shelf, budgeted, records, spec
from tools.backends.read_result import CHARACTERS_PER_UNIT, PAGE_SIZE, read_result
from tools.context.omissions import CHARACTERS_PER_PAGE, ITEMS_PER_PAGE
from tools.context.tokens import count_json
from tools.contracts import ToolSpec
from tools.execution.budget import apply_budget


def ruled(**rules: Any) -> ToolSpec:
    return replace(spec(), binding={"rules": rules})


PROFILE = ruled(summary="nsip_profile", always=True)


async def test_the_rules_of_a_tool_are_followed() -> None:
    data = records(500)
    result = await budgeted(data, ruled(top=[{"path": "records", "by": "id", "count": 2}]), Shelf())

    assert [row["id"] for row in result.data["records"]] == [499, 498]
    assert result.data["contactInfo"] == data["contactInfo"]
    assert result.tokens_after == count_json(result.data)


async def test_preserved_keys_of_the_tool_hold_beside_its_rules() -> None:
    # C16
    data = records(500)
    tool = replace(ruled(drop=["contactInfo", "records"]), preserve_keys=("contactInfo",))
    result = await budgeted(data, tool, Shelf())

    assert result.data["contactInfo"] == data["contactInfo"]
    assert "records" not in result.data


async def test_an_animal_above_the_budget_becomes_its_summary() -> None:
    # S4-041, S4-042, S4-087
    animal = nsip_answers(older=False).animal
    long = {**animal, "raw_data": [animal["raw_data"]] * 3}
    shelf = Shelf()
    result = await budgeted(long, ruled(summary="nsip_animal"), shelf)

    assert result.data["TotalProgeny"] == 204
    assert result.data["_original_token_count"] == result.tokens_before == count_json(long)
    assert result.data["_summary_token_count"] == result.tokens_after
    assert result.meta["budget"]["applied"] is True
    assert [json.loads(body) for body in shelf.bodies] == [long]


async def test_an_animal_within_the_budget_is_complete_and_unmodified() -> None:
    # F4-16, S4-032
    animal = nsip_answers(older=False).animal
    result = await budgeted(animal, ruled(summary="nsip_animal"), Shelf())

    assert result.data is animal
    assert result.meta == {}


@pytest.mark.parametrize("whose", ["profile", "founder"])
async def test_a_profile_is_always_summarised_and_stays_readable(whose: str) -> None:
    # F4-27
    profile, shelf = getattr(nsip_answers(older=False), whose), Shelf()
    result = await budgeted(profile, PROFILE, shelf)

    async def kept(request_id: str, owner: str) -> str | None:
        return shelf.bodies[0]

    assert result.data["_summarized"] is True
    assert result.meta["budget"]["reduction_percent"] >= 70
    arguments = {**result.meta["budget"]["full_result"]["arguments"], "pointer": "/details"}
    page = await read_result(arguments, CALLER, kept)
    assert page["entries"]["lpn_id"] == result.data["LpnId"]


async def test_a_profile_below_the_budget_is_summarised_too() -> None:
    # F4-27
    result = await budgeted(
        nsip_answers(older=False).profile, replace(PROFILE, token_budget=10_000), Shelf()
    )

    assert result.data["_summarized"] is True
    assert result.data["TotalProgeny"] == 204
    assert result.tokens_before is not None
    assert result.tokens_before < 10_000


async def test_a_profile_too_small_to_be_70_percent_smaller_passes_complete() -> None:
    # C16, S4-039: a summary that saves less is none.
    details = {"lpn_id": "6401492020FLE249", "breed": "Katahdin", "total_progeny": 0}
    profile = {"details": details, "lineage": None, "progeny": None}
    result = await budgeted(profile, PROFILE, Shelf())

    assert result.data is profile
    assert result.tokens_before == result.tokens_after
    assert result.meta == {}


@pytest.mark.parametrize("rules", [{"keep": 7}, {"summary": "haiku"}, ["keep"]])
async def test_bad_rules_are_left_aside_and_logged(
    rules: Any, caplog: pytest.LogCaptureFixture
) -> None:
    data = records(500)
    with caplog.at_level(logging.WARNING):
        result = await budgeted(data, replace(spec(), binding={"rules": rules}), Shelf())

    assert result.data == (await budgeted(data, spec(), Shelf())).data
    assert "rules for answers of search are not used" in caplog.text


async def test_tokens_are_those_of_the_json_with_escapes_however_it_was_written() -> None:
    # F4-17
    data = {"text": "羊は草を食べる。" * 40}
    encoded = json.dumps(data, ensure_ascii=False)
    result = await apply_budget(
        replace(spec(), token_budget=50_000),
        data,
        encoded,
        request_id=REQUEST_ID,
        keep=Shelf().keep,
    )

    assert result.tokens_before == count_json(data)


def test_the_pages_that_reports_speak_of_are_those_of_read_result() -> None:
    # F4-07
    assert ITEMS_PER_PAGE == PAGE_SIZE
    assert CHARACTERS_PER_PAGE == PAGE_SIZE * CHARACTERS_PER_UNIT
