"""Structured logs: one JSON object a line."""

from __future__ import annotations

import json
import logging

import pytest

from controlplane.logging import JsonFormatter, WithoutQueries, logging_settings


def record(**changes: object) -> logging.LogRecord:
    made = logging.LogRecord("some.part", logging.INFO, __file__, 1, "served %s", ("x",), None)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def test_line_is_one_json_object_with_utc_time_to_the_millisecond() -> None:
    line = JsonFormatter().format(record(created=1_700_000_000.25))
    assert json.loads(line) == {
        "timestamp": "2023-11-14T22:13:20.250Z",
        "level": "INFO",
        "logger": "some.part",
        "message": "served x",
    }


def test_fields_of_the_call_are_added() -> None:
    entry = json.loads(JsonFormatter().format(record(fields={"tool_name": "t", "duration": 3})))
    assert (entry["tool_name"], entry["duration"]) == ("t", 3)


def test_exception_stays_on_the_same_line() -> None:
    try:
        raise ValueError("broken")
    except ValueError as fault:
        caught = (type(fault), fault, fault.__traceback__)
    line = JsonFormatter().format(record(exc_info=caught))
    assert "\n" not in line
    assert "ValueError: broken" in json.loads(line)["exception"]


def test_tokens_and_keys_stay_out_of_every_part_of_a_line() -> None:
    token = f"eyJ{'a' * 30}.{'b' * 40}.{'c' * 50}"
    try:
        raise ValueError(f"cannot use {token}")
    except ValueError as fault:
        caught = (type(fault), fault, fault.__traceback__)
    line = JsonFormatter().format(
        record(args=(token,), exc_info=caught, fields={"authorization": token, "note": token})
    )
    assert token not in line
    assert json.loads(line)["message"] == "served [redacted]"


@pytest.mark.parametrize(("given", "used"), [("debug", "DEBUG"), ("ERROR", "ERROR"), ("x", "INFO")])
def test_level_follows_the_setting(given: str, used: str) -> None:
    # F3-13
    assert logging_settings(given)["root"]["level"] == used


@pytest.mark.parametrize(
    ("level", "task", "told"),
    [
        (logging.INFO, "tools.tasks.run_query", False),
        (logging.ERROR, "tools.tasks.run_query", True),
        (logging.INFO, "tools.tasks.prune_journal", True),
    ],
)
def test_queries_that_come_and_go_are_left_to_the_journal(
    level: int, task: str, told: bool
) -> None:
    assert WithoutQueries().filter(record(levelno=level, data={"name": task})) is told
