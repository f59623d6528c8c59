"""Lines written while a call is worked on name it; others do not."""

from __future__ import annotations

import asyncio
import json
import logging

from controlplane.logging import JsonFormatter
from tools.tracing import Work, working_on


def line(**fields: object) -> dict[str, object]:
    """A line written here and now."""
    record = logging.LogRecord("some.part", logging.INFO, __file__, 1, "served", (), None)
    if fields:
        record.fields = fields
    entry: dict[str, object] = json.loads(JsonFormatter().format(record))
    return {name: entry.get(name) for name in ("request_id", "correlation_id") if name in entry}


def test_a_line_names_the_call_it_was_written_in() -> None:
    assert line() == {}
    work = Work("a-1", "order_7")
    assert line() == {"request_id": "a-1", "correlation_id": "order_7"}
    work.end()
    assert line() == {}


def test_a_call_inside_another_has_its_own_lines() -> None:
    outer = Work("a-1", "order_7")
    inner = Work("a-2", "")
    assert line() == {"request_id": "a-2"}
    inner.end()
    assert line() == {"request_id": "a-1", "correlation_id": "order_7"}
    outer.end()


def test_what_a_line_says_itself_goes_before() -> None:
    work = Work("a-1", "order_7")
    assert line(request_id="b-1") == {"request_id": "b-1"}
    assert line(correlation_id="order_8") == {"request_id": "a-1", "correlation_id": "order_8"}
    work.end()


def test_secrets_stay_out_of_the_ids() -> None:
    token = f"eyJ{'a' * 30}.{'b' * 40}.{'c' * 50}"
    work = Work("a-1", token)
    assert line()["correlation_id"] == "[redacted]"
    work.end()


async def test_what_outlives_a_call_writes_no_lines_of_it() -> None:
    over = asyncio.Event()

    async def connection() -> tuple[dict[str, object], dict[str, object]]:
        meanwhile = line()
        await over.wait()
        return meanwhile, line()

    async def call() -> asyncio.Task[tuple[dict[str, object], dict[str, object]]]:
        work = Work("a-1", "")
        task = asyncio.create_task(connection())
        await asyncio.sleep(0)
        work.end()
        return task

    task = await call()
    over.set()
    assert await task == ({"request_id": "a-1"}, {})
    assert working_on() is None
