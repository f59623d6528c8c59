"""The budget stage: small answers pass untouched, large ones are shortened and stay retrievable."""

from __future__ import annotations

import asyncio
import json
import uuid
from functools import partial
from typing import Any

import pytest
import tiktoken

from tools.backends.read_result import read_result
from tools.context.tokens import count_json
from tools.contracts import Caller, CallerKind, ToolSource, ToolSpec
from tools.errors import SummarizationFailed, TokenCountingFailed
from tools.execution.budget import OFFLOAD_CHARACTERS, Budgeted, apply_budget
from tools.guards.kept_results import KeptResults
from tools.guards.redis import RedisLink

REQUEST_ID = "5f0c6f0e-8a3f-4c7a-9d2b-0d9b8f2f7c11"
CALLER = Caller(CallerKind.API_KEY, "key:alpha", "alpha", 100)


def spec(**changes: Any) -> ToolSpec:
    values: dict[str, Any] = {
        "name": "search",
        "description": "Searches for animals.",
        "input_schema": {"type": "object", "properties": {}},
        "source": ToolSource.HTTP_API,
        "handler": "search",
        "requires_context_management": True,
    }
    return ToolSpec(**{**values, **changes})


def records(number: int) -> dict[str, Any]:
    contact = {"farmName": "Beispielhof", "phone": "+1 555 0100"}
    rows = [{"id": n, "name": f"Animal {n}", "born": "2024-02-13"} for n in range(number)]
    return {"recordCount": number, "contactInfo": contact, "records": rows}


def answer_of(tokens: int) -> dict[str, Any]:
    """An answer of exactly this many tokens."""
    answer = {"contactInfo": {"phone": "+1 555 0100"}, "text": ""}
    answer["text"] = "x" + " x" * (tokens - count_json({**answer, "text": "x"}))
    assert count_json(answer) == tokens
    return answer


class Shelf:
    """Keeps bodies as the port of the stage asks; `works` False stands for Redis being down."""

    def __init__(self, *, works: bool = True) -> None:
        self.bodies: list[str] = []
        self._works = works

    async def keep(self, body: str) -> bool:
        if self._works:
            self.bodies.append(body)
        return self._works


async def budgeted(data: Any, tool: ToolSpec, shelf: Shelf) -> Budgeted:
    return await apply_budget(tool, data, json.dumps(data), request_id=REQUEST_ID, keep=shelf.keep)


async def test_a_tool_without_context_management_is_never_counted_or_cut() -> None:
    # S4-006
    data, shelf = records(500), Shelf()
    result = await budgeted(data, spec(requires_context_management=False), shelf)

    assert result == Budgeted(data, None, None, {})
    assert result.data is data
    assert shelf.bodies == []


async def test_an_answer_of_exactly_2000_tokens_passes_complete_and_unmodified() -> None:
    # S4-032, F4-16, S4-087
    data, shelf = answer_of(2000), Shelf()
    result = await budgeted(data, spec(), shelf)

    assert result.data is data
    assert (result.tokens_before, result.tokens_after) == (2000, 2000)
    assert result.meta == {}
    assert shelf.bodies == []


async def test_an_answer_of_2001_tokens_is_shortened_by_70_percent_without_being_asked() -> None:
    # S4-033, S4-039, T13, S4-087
    data, shelf = answer_of(2001), Shelf()
    result = await budgeted(data, spec(), shelf)

    assert result.tokens_before == 2001
    assert result.tokens_after == count_json(result.data)
    assert result.tokens_after <= 2001 * 0.3
    assert shelf.bodies == [json.dumps(data)]


async def test_the_caller_is_told_what_was_saved_and_how_to_read_the_rest() -> None:
    # S4-034
    data = records(500)
    result = await budgeted(data, spec(), Shelf())

    before, after = result.tokens_before, result.tokens_after
    assert before is not None
    assert after is not None
    assert result.meta == {
        "budget": {
            "applied": True,
            "tokens_before": before,
            "tokens_after": after,
            "reduction_percent": round((before - after) / before * 100, 1),
            "full_result": {"tool": "read_result", "arguments": {"request_id": REQUEST_ID}},
        }
    }
    assert result.data["_omitted"][0]["pointer"] == "/records"


async def test_the_whole_answer_is_kept_before_anything_is_cut() -> None:
    data, shelf = records(500), Shelf()
    await budgeted(data, spec(), shelf)

    assert [json.loads(body) for body in shelf.bodies] == [data]


async def test_an_answer_that_cannot_be_kept_passes_uncut_and_says_why() -> None:
    data = records(500)
    result = await budgeted(data, spec(), Shelf(works=False))

    assert result.data is data
    assert result.tokens_before == result.tokens_after == count_json(data)
    assert result.meta["budget"]["applied"] is False
    assert "not shortened" in result.meta["budget"]["reason"]


async def test_a_tool_has_its_own_budget_and_its_own_preserved_keys() -> None:
    # C16
    data = records(500)
    tool = spec(token_budget=300, preserve_keys=("contactInfo",))
    result = await budgeted(data, tool, Shelf())

    assert result.tokens_after is not None
    assert result.tokens_after <= 300
    assert result.data["contactInfo"] == data["contactInfo"]
    assert (await budgeted(data, spec(token_budget=50_000), Shelf())).data is data


async def test_preserved_parts_that_are_too_large_fail_but_stay_retrievable() -> None:
    # C16, S4-063
    shelf = Shelf()
    with pytest.raises(SummarizationFailed) as raised:
        await budgeted(records(500), spec(preserve_keys=("records",)), shelf)

    assert raised.value.mcp_code == -32002
    assert f"read_result and request_id {REQUEST_ID}" in str(raised.value.details.suggestion)
    assert len(shelf.bodies) == 1


async def test_a_tokenizer_that_cannot_be_loaded_fails_the_call(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S4-064
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})

    with pytest.raises(TokenCountingFailed):
        await budgeted(records(3), spec(), Shelf())


async def test_large_answers_leave_the_event_loop_free() -> None:
    data = records(5000)
    assert len(json.dumps(data)) > OFFLOAD_CHARACTERS
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    working = asyncio.create_task(others())
    await asyncio.sleep(0)
    turns = 0
    await budgeted(data, spec(), Shelf())
    working.cancel()

    assert turns > 10


@pytest.mark.parametrize("data", [[*range(3000)], "word " * 5000, {"a": {"b": [*range(3000)]}}])
async def test_answers_of_any_shape_are_shortened(data: Any) -> None:
    result = await budgeted(data, spec(), Shelf())

    assert result.tokens_after is not None
    assert result.tokens_after <= 2000


async def test_nothing_is_lost_every_record_can_be_paged_from_redis(link: RedisLink) -> None:
    kept = KeptResults(link)
    request_id = str(uuid.uuid4())
    data = records(500)
    result = await apply_budget(
        spec(),
        data,
        json.dumps(data),
        request_id=request_id,
        keep=partial(kept.keep, request_id, CALLER.identifier),
    )
    hint = result.meta["budget"]["full_result"]["arguments"]
    pointer = result.data["_omitted"][0]["pointer"]

    collected: list[Any] = []
    for page in range(1, 4):
        arguments = {**hint, "pointer": pointer, "page": page, "page_size": 200}
        collected += (await read_result(arguments, CALLER, kept.read))["items"]

    assert collected == data["records"]


async def test_with_redis_down_the_answer_is_complete(dead_link: RedisLink) -> None:
    data = records(500)
    result = await apply_budget(
        spec(),
        data,
        json.dumps(data),
        request_id=REQUEST_ID,
        keep=partial(KeptResults(dead_link).keep, REQUEST_ID, CALLER.identifier),
    )

    assert result.data is data
    assert result.meta["budget"]["applied"] is False
