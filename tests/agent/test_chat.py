"""The chat over HTTP, with a scripted model and the tools of a real server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from typing_extensions import override

from tests.agent.programs import SECONDS, Chat, chat
from tests.agent.scripts import Script, says
from tests.agent.tool_process import tool_process
from tests.client_envs import client_python
from tests.controlplane.stack import free_port
from tests.openai_server import Fault, OpenAiServer
from tests.yardstick import in_time


def test_events_come_in_order_and_the_pieces_make_up_the_answer(
    served: Chat, model: OpenAiServer
) -> None:
    # F2-22
    model.script = Script({"What is there to do?": [("list_todos", {})]})
    answer = served.say("What is there to do?", request_id="req_001", thread_id="thread-1")
    kinds = [kind for kind, _ in answer.events]
    assert kinds[:3] == ["THINKING", "TOOL_CALL", "TOOL_CALL"]
    assert kinds[-1] == "DONE"
    assert set(kinds) == {"THINKING", "TOOL_CALL", "RESPONSE_DELTA", "DONE"}
    assert all(data["content"] for data in answer.named("THINKING"))
    text = "".join(data["text"] for data in answer.named("RESPONSE_DELTA"))
    assert answer.done == {
        "final_output": text,
        "status": "ok",
        "request_id": "req_001",
        "thread_id": "thread-1",
    }


class Held(Sequence[Mapping[str, Any]]):
    """What a model says, of which it keeps all but the start until it is let go."""

    def __init__(self, deltas: Sequence[Mapping[str, Any]], let_go: threading.Event) -> None:
        self._deltas = deltas
        self._let_go = let_go

    @override
    def __len__(self) -> int:
        return len(self._deltas)

    @override
    def __getitem__(self, place: Any) -> Any:
        if place:
            # Longer than anybody waits for an event.
            self._let_go.wait(2 * SECONDS)
        return self._deltas[place]


def test_pieces_of_the_answer_come_while_the_model_still_speaks(
    served: Chat, model: OpenAiServer
) -> None:
    # F2-22
    let_go = threading.Event()
    model.script = lambda sent: Held(says("One after the other."), let_go)
    try:
        with served.streamed("Hello") as events:
            text = next(data["text"] for name, data in events if name == "RESPONSE_DELTA")
            assert text == "One aft"
            let_go.set()
            *_, (name, done) = events
    finally:
        let_go.set()
    assert (name, done["final_output"]) == ("DONE", "One after the other.")


def test_a_call_is_told_while_the_tool_still_works(model: OpenAiServer) -> None:
    # F2-22
    model.script = Script({"Wait": [("waits", {})]})
    variables = {"MODEL": "scripted", "MODEL_BASE_URL": model.url}
    with (
        tool_process(str(client_python("langchain"))) as server,
        chat(MCP_URL=server.url, **variables) as running,
        running.streamed("Wait") as events,
    ):
        # This tool never ends.
        call = next(data for name, data in events if name == "TOOL_CALL")
        assert (call["tool_name"], call["status"]) == ("waits", "IN_PROGRESS")
        server.process.kill()
        call = next(data for name, data in events if name == "TOOL_CALL")
        assert (call["tool_name"], call["status"]) == ("waits", "FAILED")


def test_ids_are_made_where_none_are_given(served: Chat) -> None:
    first, second = (served.say("Hello").done for _ in range(2))
    assert first["request_id"] != second["request_id"]
    assert first["thread_id"] != second["thread_id"]
    assert first["final_output"] == "I heard: Hello"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"message": ""}, "1 to 5000 characters"),
        ({"message": "   "}, "1 to 5000 characters"),
        ({"message": "x" * 5001}, "1 to 5000 characters"),
        ({"message": 7}, "1 to 5000 characters"),
        ({}, "1 to 5000 characters"),
        ({"message": "x", "request_id": "a b!"}, "request_id"),
        ({"message": "x", "request_id": ""}, "request_id"),
        ({"message": "x", "request_id": "ü"}, "request_id"),
        ({"message": "x", "thread_id": "a/b"}, "thread_id"),
        ({"message": "x", "mood": "good"}, "Unknown: mood"),
        (["x"], "object"),
        (b"{no", "not JSON"),
        (b"[" * 60_000, "not JSON"),
        (rb'{"message": "\ud800"}', "UTF-8"),
        (rb'{"message": "x", "\udfff": 1}', "UTF-8"),
        (b'{"message": "' + b"x" * 70_000 + b'"}', "more than 65536 bytes"),
    ],
)
def test_a_request_that_cannot_be_taken_is_told_why(
    served: Chat, model: OpenAiServer, body: Any, why: str
) -> None:
    # F2-22
    answer = served.post(body)
    assert (answer.status, json.loads(answer.body)["status"]) == (400, "error")
    assert why in json.loads(answer.body)["error"]
    assert model.requests == []


def test_the_longest_message_and_every_character_of_ids_are_taken(served: Chat) -> None:
    # F2-22
    answer = served.say("x" * 5000, request_id="azAZ09_-")
    assert answer.done["request_id"] == "azAZ09_-"
    assert served.say("x").done["final_output"] == "I heard: x"


def test_pages_of_other_origins_are_kept_out(served: Chat) -> None:
    assert served.post({"message": "x"}, **{"Content-Type": "text/plain"}).status == 400
    assert served.post({"message": "x"}, Host="evil.example").status == 400


def test_a_model_that_is_down_is_told_in_friendly_words_with_status_200(
    mcp_url: str, model: OpenAiServer
) -> None:
    # F2-10 C17
    model.always = Fault(garbage=b"<html>")
    variables = {"MODEL": "scripted", "MODEL_BASE_URL": model.url}
    with chat(MCP_URL=mcp_url, **variables) as degraded:
        for _ in range(3):
            answer = degraded.say("Hello")
            assert answer.status == 200
            (told,) = answer.named("ERROR")
            assert told["status"] == answer.done["status"] == "degraded"
            assert answer.done["final_output"] == told["error"]
            assert told["error"].startswith("Unable to reach the language model right now.")
        model.always = None
        told = degraded.say("Hello").done
        health = json.loads(degraded.request("GET", "/health").body)
    # Not asked any more: the breaker is open.
    assert told["final_output"].startswith("Unable to reach the language model right now.")
    assert len(model.requests) == 3
    assert health["circuit_breakers"] == {"model": {"state": "OPEN", "failure_count": 3}}
    assert health["status"] == "degraded"


def test_without_its_server_the_chat_answers_with_status_200() -> None:
    # F2-06 F2-10 C17
    nowhere = f"http://127.0.0.1:{free_port()}/mcp"
    with chat(MCP_URL=nowhere) as degraded:
        assert "No MCP tools from" in degraded.said
        assert json.loads(degraded.request("GET", "/health").body)["mcp"] == "Failed"
        began = time.monotonic()
        answer = degraded.say("Create a task to buy groceries")
        assert in_time(time.monotonic() - began, 1)
    assert answer.status == 200
    assert answer.done["status"] == "degraded"
    friendly = "Unable to reach the tools right now. Please try again later."
    assert answer.done["final_output"] == friendly


def test_messages_of_one_conversation_are_answered_in_turn(
    served: Chat, model: OpenAiServer
) -> None:
    model.always = Fault(pause=0.05)
    answers: list[str] = []

    def say(message: str) -> None:
        answers.append(served.say(message, thread_id="in-turn").done["final_output"])

    threads = [threading.Thread(target=say, args=(f"Message {number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [f"I heard: Message {number}" for number in range(3)]
    lengths = [len(sent["messages"]) for _, sent in model.requests]
    # Each saw the turns before it, whole.
    assert lengths == [2, 4, 6]


def test_it_listens_on_this_machine_alone(served: Chat) -> None:
    # F2-16
    assert served.host == "127.0.0.1"
    assert "Initialized (With MCP)" in served.said
