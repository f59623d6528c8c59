"""What holds for every answer above its budget: valid, 70 % smaller, true, and none of it lost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.tools.context.test_shrink_properties import answers
from tools.backends.read_result import read_result, resolve
from tools.context.tokens import count_json
from tools.contracts import Caller, CallerKind, ToolSource, ToolSpec
from tools.errors import SummarizationFailed
from tools.execution.budget import Budgeted, apply_budget

REQUEST_ID = "5f0c6f0e-8a3f-4c7a-9d2b-0d9b8f2f7c11"
CALLER = Caller(CallerKind.API_KEY, "key:alpha", "alpha", 100)
BUDGET = 60
SPEC = ToolSpec(
    name="search",
    description="Searches for animals.",
    input_schema={"type": "object", "properties": {}},
    source=ToolSource.HTTP_API,
    handler="search",
    requires_context_management=True,
    token_budget=BUDGET,
)

relaxed = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Kept:
    """Keeps one body, as Redis does for the path."""

    body = ""

    async def keep(self, body: str) -> bool:
        self.body = body
        return True

    async def read(self, request_id: str, owner: str) -> str | None:
        return self.body


def budgeted(data: Any, kept: Kept) -> Budgeted | None:
    """What is answered, or None when what there is cannot be made small enough."""
    encoded = json.dumps(data, ensure_ascii=False)
    try:
        return asyncio.run(apply_budget(SPEC, data, encoded, request_id=REQUEST_ID, keep=kept.keep))
    except SummarizationFailed:
        assert count_json(data) < 100 or isinstance(data, int | float)
        return None


async def pages_of(kept: Kept, **arguments: Any) -> list[dict[str, Any]]:
    """The page asked for and all after it."""
    asked = {"request_id": REQUEST_ID, "page": 1, **arguments}
    first = await read_result(asked, CALLER, kept.read)
    following = range(asked["page"] + 1, first.get("pages", 1) + 1)
    return [
        first,
        *[await read_result({**asked, "page": page}, CALLER, kept.read) for page in following],
    ]


def read_on(kept: Kept, **arguments: Any) -> Any:
    """All from one page to the last, put together."""
    pages = asyncio.run(pages_of(kept, **arguments))
    kind = pages[0]["kind"]
    if kind == "object":
        return {key: value for one in pages for key, value in one["entries"].items()}
    if kind == "list":
        return [item for one in pages for item in one["items"]]
    return "".join(one["text"] for one in pages) if kind == "text" else pages[0]["value"]


def leaves(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    """Every single value with its pointer."""
    if isinstance(value, dict):
        entries = [(str(key), child) for key, child in value.items()]
    elif isinstance(value, list):
        entries = [(str(place), child) for place, child in enumerate(value)]
    else:
        return [(pointer, value)]
    return [
        found
        for key, child in entries
        for found in leaves(child, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    ]


def content_of(data: Any, result: Budgeted) -> Any:
    """What is answered, without the report and without the wrapping of lists and texts."""
    if not isinstance(data, dict):
        return result.data["result"]
    return dict(list(result.data.items())[:-1])


def kept_at(content: Any, pointer: str) -> int:
    """How many items or characters are there."""
    found = resolve(content, pointer)
    return len(found) - isinstance(found, str)


def is_kept(value: Any, original: Any) -> bool:
    """Whether a value is the original, or the beginning of it with a mark after it."""
    if isinstance(original, str) and value != original:
        return str(value).endswith("…") and original.startswith(value[:-1])
    return bool(value == original and type(value) is type(original))


@relaxed
@given(answers())
def test_any_answer_above_its_budget_is_cut_to_true_parts_of_itself(data: Any) -> None:
    # S4-033, S4-039, C16
    before = count_json(data)
    assume(before > BUDGET)
    result = budgeted(data, Kept())
    if result is None:
        return

    assert json.loads(json.dumps(result.data, allow_nan=False)) == result.data
    assert result.tokens_after == count_json(result.data)
    assert result.tokens_after * 10 <= before * 3
    content = (
        dict(list(result.data.items())[:-1]) if isinstance(data, dict) else result.data["result"]
    )
    for pointer, value in leaves(content):
        assert is_kept(value, resolve(data, pointer))
    again = budgeted(json.loads(json.dumps(data)), Kept())
    assert again is not None
    assert json.dumps(again.data) == json.dumps(result.data)


@relaxed
@given(answers(), st.integers(1, 200))
def test_paging_gives_back_the_whole_answer(data: Any, page_size: int) -> None:
    # F4-07
    assume(count_json(data) > BUDGET)
    kept = Kept()
    budgeted(data, kept)

    assert read_on(kept, page_size=page_size) == data


@relaxed
@given(answers())
def test_each_place_in_the_report_says_where_to_read_on(data: Any) -> None:
    # F4-07
    assume(count_json(data) > BUDGET)
    kept = Kept()
    result = budgeted(data, kept)
    assume(result is not None)
    assert result is not None
    report = list(result.data.values())[-1]
    assume(report is not True)

    for where in (entry["next"] for entry in report if "further_places" not in entry):
        rest, whole = read_on(kept, **where), resolve(data, where["pointer"])
        if isinstance(whole, dict):
            assert rest.items() <= whole.items()
        else:
            # What is skipped is in the answer already.
            skipped = len(whole) - len(rest)
            assert whole[skipped:] == rest
            assert skipped <= kept_at(content_of(data, result), where["pointer"])
