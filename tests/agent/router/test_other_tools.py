"""The router knows no tool beforehand: it works on tools of another world as well."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from agent.router import Router
from tests.agent.router.catalogue import OTHERS

GARDENS = {"topics": ["gardens", "tools"], "stars": 4}
REQUESTS: list[tuple[str, str | None, dict[str, Any]]] = [
    (
        "open a new issue titled 'Login is broken' labelled bug and auth, severity high",
        "create_issue",
        {"title": "Login is broken", "labels": ["bug", "auth"], "severity": "high"},
    ),
    (
        "Create an issue: the page is blank on Safari",
        "create_issue",
        {"title": "the page is blank on Safari"},
    ),
    ("close issue 42 as duplicate", "close_issue", {"issue_number": 42, "reason": "duplicate"}),
    ("find issues about the login page", "search_issues", {"query": "login page"}),
    (
        "search closed issues for timeout",
        "search_issues",
        {"query": "timeout", "state": "closed"},
    ),
    (
        "what events do I have between 2026-12-01 and 2026-12-05?",
        "listEvents",
        {"start_date": "2026-12-01", "end_date": "2026-12-05"},
    ),
    (
        "what's the weather in Oslo for the next 5 days",
        "get-weather-forecast",
        {"city": "Oslo", "days": 5},
    ),
    (
        "forecast for Lima in imperial units",
        "get-weather-forecast",
        {"city": "Lima", "units": "imperial"},
    ),
    ("where is order ORD-004211?", "get_order", {"order_id": "ORD-004211"}),
    (
        "refund order ORD-004211, amount 19.90, and notify the customer",
        "refund_order",
        {"order_id": "ORD-004211", "amount": 19.9, "notify_customer": True},
    ),
    (
        "refund ORD-000001 without notifying the customer",
        "refund_order",
        {"order_id": "ORD-000001", "notify_customer": False},
    ),
    ("close 42 as duplicate", "close_issue", {"issue_number": 42, "reason": "duplicate"}),
    ("close 42 windows", None, {}),
    ("how do I close an issue?", None, {}),
    (
        "log a problem as an issue: the page is blank",
        "create_issue",
        {"title": "the page is blank"},
    ),
    ("gimme everything on the topics gardens and tools, S4", "list_notes", GARDENS),
    ("look up in the docs: notice period", "ask_handbook", {"question": "notice period"}),
    (
        "ask the handbook who pays for a lost order",
        "ask_handbook",
        {"question": "ask the handbook who pays for a lost order"},
    ),
    ("can you book a flight to Oslo?", None, {}),
    ("what is 17 times 23?", None, {}),
    ("tell me a joke about orders", None, {}),
    ("I already opened an issue, no need to do anything", None, {}),
    ("sing me a song", None, {}),
    ("hello", None, {}),
]


@pytest.mark.parametrize(("say", "tool", "arguments"), REQUESTS, ids=lambda value: str(value)[:50])
async def test_requests_reach_tools_that_nobody_told_the_router_about(
    say: str, tool: str | None, arguments: dict[str, Any]
) -> None:
    # F2-14
    choice = await Router(OTHERS, today=lambda: date(2026, 11, 18)).route(say)
    assert (choice.tool if choice else None) == tool
    if choice is not None:
        assert dict(choice.arguments) == arguments


async def test_the_same_words_go_elsewhere_when_the_tools_are_others() -> None:
    kept = [tool for tool in OTHERS if tool.name != "get-weather-forecast"]
    assert await Router(kept).route("what's the weather in Oslo?") is None
