"""Requests in other people's words reach the tool, and nothing is changed for them unasked."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from agent.intents.cases import recorded_tools
from agent.router import Router

FOUND: list[tuple[str, str, dict[str, Any]]] = [
    ("track this as a task: prepare slides", "create_todo", {"title": "prepare slides"}),
    ("paying the vet bill has to become a todo", "create_todo", {"title": "paying the vet bill"}),
    ("todo 5 isn't done yet, make it active", "update_todo", {"todo_id": 5, "status": "active"}),
    ("strip the tags from task 5", "update_todo", {"todo_id": 5, "tags": []}),
    ("drop todo 5 to priority 1", "update_todo", {"todo_id": 5, "priority": 1}),
    ("I want todo 5 gone", "delete_todo", {"todo_id": 5}),
    ("to-dos with label shopping", "list_todos", {"tags": ["shopping"]}),
    ("show sheep with BWT under 0", "nsip_search_animals", {"search_criteria": {"trait_ranges": {"BWT": {"max": 0}}}}),
    ("second page of the offspring of 6401492020FLE249, 10 at a time", "nsip_get_progeny", {"lpn_id": "6401492020FLE249", "page": 2, "page_size": 10}),
    ("compare reranking and basic RAG over the last day", "rag_metrics", {"time_range": "24h", "technique_filter": ["rag_basic_rerank", "rag_basic"]}),
]  # fmt: skip
ANSWERED = [
    ("double-check this, a wrong answer would cost us: what dose do lambs get?", "rag_crag"),
    ("use ColBERT: what vaccine is used for rams in accredited flocks?", "rag_pylate_colbert"),
    ("quote the clause on liability word for word", "rag_basic_rerank"),
    ("connect the dots across the reports between Smith, Acme and the fire", "rag_graphrag"),
    ("general trends over the full document set about complaints", "rag_iris_global_graphrag"),
    ("is the document search healthy?", "rag_health_check"),
]


def router() -> Router:
    return Router(recorded_tools(), today=lambda: date(2026, 11, 18))


@pytest.mark.parametrize(("say", "tool", "arguments"), FOUND)
async def test_other_words_reach_the_tool_with_its_arguments(
    say: str, tool: str, arguments: dict[str, Any]
) -> None:
    # F2-14
    choice = await router().route(say)
    assert choice is not None
    assert (choice.tool, dict(choice.arguments)) == (tool, arguments)


@pytest.mark.parametrize(("say", "tool"), ANSWERED)
async def test_how_a_question_is_to_be_answered_tells_the_tool(say: str, tool: str) -> None:
    # F2-14
    choice = await router().route(say)
    assert choice is not None
    assert choice.tool == tool


@pytest.mark.parametrize(
    "say", ["I want todo 5 gone", "todo 5 can go", "strip the tags from todo 5"]
)
async def test_what_is_only_wished_for_is_asked_about(say: str) -> None:
    choice = await router().route(say)
    assert choice is not None
    assert not choice.sure
