"""What CRAG does with a web search, and without one."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.tools.pipelines.kinds.text_index import (
    ask,
    run_on_articles,
)
from tools.pipelines.contracts import BlockUnavailable
from tools.pipelines.kinds.crag import Crag

CLEAR = "Which opera did the composer Marla Quist write?"
VAGUE = "What is the price of copper in Lisbon?"
PAGES = {"results": [{"title": "Copper", "url": "https://example.org/cu", "snippet": "Nine."}, {}]}


def test_without_a_search_tool_it_is_said_and_nothing_made_up() -> None:
    found = ask(Crag(), VAGUE, correction_strategy="web_search")

    assert found.metadata["web_search"] == "not configured"
    assert found.metadata["correction_applied"] is False
    assert found.metadata["correction_strategy_used"] is None
    assert found.context == ()


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ({"correction_strategy": "web_search"}, "web_search"),
        ({"correction_strategy": "both"}, "both"),
        ({"enable_web_search": True}, "both"),
    ],
)
def test_the_configured_tool_is_asked_and_its_pages_are_read(
    asked: dict[str, Any], used: str
) -> None:
    calls: list[tuple[str, Mapping[str, Any]]] = []

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        calls.append((name, arguments))
        return PAGES

    run = run_on_articles(call_tool=call, web_search_tool="search_web")
    found = ask(Crag(), VAGUE, run, **asked)

    assert calls == [("search_web", {"query": VAGUE})]
    assert found.metadata["correction_strategy_used"] == used
    assert found.metadata["web_search"] == "1 results"
    page = found.context[-1]
    assert (page.text, page.title, page.metadata["source"]) == (
        "Nine.",
        "Copper",
        "https://example.org/cu",
    )
    assert len(found.context) == len(found.found) + 1


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        ("one plain text", ["one plain text"]),
        (["first", {"content": "second", "link": "x"}], ["first", "second"]),
        ({"text": "whole"}, ["whole"]),
        ({"results": []}, []),
        (7, []),
        ([{"text": f"page {number}"} for number in range(9)], [f"page {n}" for n in range(5)]),
    ],
)
def test_results_of_many_shapes_are_read(data: Any, texts: list[str]) -> None:
    run = run_on_articles(call_tool=lambda name, arguments: data, web_search_tool="search_web")
    found = ask(Crag(), VAGUE, run, correction_strategy="web_search")

    assert [page.text for page in found.context[len(found.found) :]] == texts


def test_a_search_that_fails_is_said() -> None:
    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        raise BlockUnavailable("the tool is away")

    run = run_on_articles(call_tool=call, web_search_tool="search_web")
    found = ask(Crag(), VAGUE, run, correction_strategy="both")

    assert found.metadata["web_search"] == "failed: the tool is away"
    assert found.metadata["correction_strategy_used"] == "rewrite"
