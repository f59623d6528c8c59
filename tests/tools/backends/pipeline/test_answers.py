"""Queries of pipelines through the doors, with a real worker."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
import redis
from django.conf import settings

from tests.doors import RestDoor
from tests.factories import make_client, make_corpus, make_pipeline, make_tool, make_toolset
from tests.journal import row_of, rows
from tests.processes import wait_until
from tests.tools.backends.pipeline.conftest import managing
from tests.tools.backends.pipeline.rows import make_trial
from tests.tools.mcp_server.clients import Way, user_of
from tests.workers import Worker
from tools.techniques import ANSWER_SCHEMA

STREAMABLE = Way("streamable_http", "auto")
# What no two calls have in common.
PASSING = ("response_id", "performance_metrics")
LONG = tuple(f"{number}. " + "The moon goes round the earth. " * 30 for number in range(60))


def same(answer: dict[str, Any]) -> dict[str, Any]:
    """The parts of an answer that two calls share."""
    kept = {name: value for name, value in answer.items() if name not in PASSING}
    return {**kept, "metadata": {**kept["metadata"], "execution_time_ms": 0}}


def test_every_door_gives_the_same_answer_from_the_same_instance(
    door: RestDoor, worker: Worker
) -> None:
    # F0-13 F0-15 S0-013 S0-083 S0-036
    make_trial()
    arguments = {"query": "moon?", "top_k": 3}
    answer = door.call("rag_trial", arguments).json()
    over_rest = answer["data"]
    assert over_rest["response_id"] == answer["request_id"]
    assert over_rest["answer"] == "You asked: moon?"
    assert [one["doc_id"] for one in over_rest["retrieved_documents"]] == [
        *("moon#0", "moon#1", "moon#2")
    ]
    assert over_rest["sources"] == ["moon-0.txt", "moon-2.txt"]
    validator = jsonschema_rs.validator_for(dict(ANSWER_SCHEMA))
    assert list(validator.iter_errors(over_rest)) == []
    with user_of(door.url, STREAMABLE) as user:
        over_mcp = user.call("rag_trial", arguments).structured_content
    with managing("call_tool", "rag_trial", json.dumps(arguments)) as by_hand:
        printed, _ = by_hand.communicate(timeout=60)
    over_cli = json.loads(printed)["data"]
    # The instance and the process that answered are in there.
    assert same(over_mcp) == same(over_rest) == same(over_cli)
    assert over_rest["metadata"]["pid"] in worker.children()


def test_nothing_of_an_answered_query_stays_behind(door: RestDoor, worker: Worker) -> None:
    make_trial()
    assert door.call("rag_trial", {"query": "moon?"}).status_code == 200
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:
        assert client.hgetall("cp:rag:running") == {}
        assert list(client.scan_iter("cp:rag:reply:*")) == []
        assert list(client.scan_iter("celery-task-meta-*")) == []
        assert client.llen("rag.trial") == 0


def test_defaults_of_the_operator_hold_unless_the_caller_says_otherwise(
    door: RestDoor, worker: Worker
) -> None:
    # S0-057
    make_trial(default_parameters={"top_k": 2})
    found = door.call("rag_trial", {"query": "moon?"}).json()["data"]["retrieved_documents"]
    assert len(found) == 2
    asked = door.call("rag_trial", {"query": "moon?", "top_k": 4}).json()["data"]
    assert len(asked["retrieved_documents"]) == 4


def test_rules_beyond_the_schema_are_told_as_bad_arguments(door: RestDoor, worker: Worker) -> None:
    # F0-03
    make_trial()
    refused = door.call("rag_trial", {"query": "moon?", "low": 5, "high": 4})
    assert refused.status_code == 400
    body = refused.json()
    assert (body["code"], body["error"]) == ("INVALID_ARGUMENTS", "low must not be above high")


def test_bug_in_a_pipeline_is_told_without_its_cause(door: RestDoor, worker: Worker) -> None:
    make_trial()
    failed = door.call("rag_trial", {"query": "moon?", "bug": True})
    assert (failed.status_code, failed.json()["code"]) == (500, "INTERNAL_ERROR")
    assert "hunter2" not in failed.text
    assert "hunter2" in worker.output
    assert door.call("rag_trial", {"query": "moon?"}).status_code == 200


def test_pipeline_without_an_index_is_unavailable_until_something_is_ingested(
    door: RestDoor,
) -> None:
    # S0-012
    make_pipeline(pipeline_name="trial", corpus=make_corpus(slug="moon"))
    refused = door.call("rag_trial", {"query": "moon?"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
    body = refused.json()
    assert body["code"] == "SERVICE_UNAVAILABLE"
    assert body["error"] == "rag_trial is not initialised: the corpus moon has no index yet"
    assert "ingest" in body["meta"]["details"]["suggestion"]


def test_every_query_is_logged_with_its_text_and_pipeline(door: RestDoor, worker: Worker) -> None:
    # F0-20
    make_trial()
    answer = door.call("rag_trial", {"query": "how far is the moon?"}).json()
    row = row_of(answer["request_id"])
    assert (row.tool_id, row.status) == ("rag_trial", "success")
    assert row.query_text == "how far is the moon?"


def test_pipeline_calls_another_tool_as_its_caller(door: RestDoor, worker: Worker) -> None:
    trial = make_trial()
    search = make_tool(name="search")
    make_tool(name="secret")
    _, key = make_client(toolsets=[make_toolset(tools=[search, trial.tool])])
    headers = {"X-API-Key": key}
    answer = door.call("rag_trial", {"query": "moon?", "search": "search"}, headers=headers).json()
    assert answer["data"]["metadata"]["web"] == {"echo": {}}
    outer = row_of(answer["request_id"])
    wait_until(lambda: any(row.tool_id == "search" for row in rows()), what="the inner call's row")
    (inner,) = (row for row in rows() if row.tool_id == "search")
    assert (inner.caller, inner.transport) == (outer.caller, "rest")
    assert inner.correlation_id == str(outer.request_id)
    unseen = door.call("rag_trial", {"query": "moon?", "search": "secret"}, headers=headers)
    assert (unseen.status_code, unseen.json()["code"]) == (503, "SERVICE_UNAVAILABLE")


@pytest.mark.parametrize("way", ["rag_trial", "call_tool"])
def test_pipeline_cannot_call_a_pipeline(door: RestDoor, worker: Worker, way: str) -> None:
    make_trial()
    refused = door.call("rag_trial", {"query": "moon?", "search": way})
    assert refused.status_code == 503
    assert worker.process.poll() is None


def test_worker_says_how_much_memory_it_uses(door: RestDoor, worker: Worker) -> None:
    make_trial()
    assert door.call("rag_trial", {"query": "moon?", "hog_mb": 300}).status_code == 200
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:

        def told() -> list[dict[str, Any]]:
            return [json.loads(facts) for facts in client.hgetall("cp:rag:processes").values()]

        wait_until(lambda: any(facts["memory_mb"] > 300 for facts in told()), what="its memory")
        assert [facts["pid"] for facts in told()] == worker.children()
    assert "MB of memory" in worker.output


def test_large_answer_is_whole_and_fits_the_schema_that_clients_check_it_with(
    door: RestDoor, worker: Worker
) -> None:
    # S0-041
    make_trial(texts=LONG)
    door.client.get("/tools")
    with user_of(door.url, STREAMABLE) as user:
        listed = user.run(user.client.list_tools).tools
        (tool,) = (tool for tool in listed if tool.name == "rag_trial")
        assert tool.output_schema == ANSWER_SCHEMA
        # The client checks it against that schema, and throws it away when it does not fit.
        answer = user.call("rag_trial", {"query": "moon?", "top_k": 50})
    found = answer.structured_content["retrieved_documents"]
    assert [document["content"] for document in found] == list(LONG[:50])


def test_operator_can_have_large_answers_shortened_and_the_whole_is_kept(
    door: RestDoor, worker: Worker
) -> None:
    pipeline = make_trial(texts=LONG)
    pipeline.tool.requires_context_management = True
    pipeline.tool.save()
    make_tool(name="read_result", source="builtin", handler="read_result")
    door.client.get("/tools")
    with user_of(door.url, STREAMABLE) as user:
        listed = user.run(user.client.list_tools).tools
        (tool,) = (tool for tool in listed if tool.name == "rag_trial")
        assert tool.output_schema is None
        answer = user.call("rag_trial", {"query": "moon?", "top_k": 50})
        assert len(answer.structured_content["retrieved_documents"]) < 50
        whole = user.call(**answer.meta["budget"]["full_result"]).structured_content
    assert whole["total"] >= 6
