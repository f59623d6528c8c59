"""A server that goes away from a running chat: it is said in time, and forgotten when it is back."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.agent.programs import Answered, Chat, chat
from tests.agent.scripts import Script
from tests.agent.tool_process import ToolProcess, tool_process
from tests.client_envs import client_python
from tests.openai_server import OpenAiServer
from tests.processes import wait_until
from tests.yardstick import in_time

FRIENDLY = "Unable to reach the tools right now. Please try again later."
SCRIPT = Script({"Wait": [("waits", {})], "Say tea twice": [("double", {"word": "tea"})]})


@contextmanager
def chat_with(server: ToolProcess, model: OpenAiServer) -> Iterator[Chat]:
    model.script = SCRIPT
    with chat(MCP_URL=server.url, MODEL="scripted", MODEL_BASE_URL=model.url) as running:
        yield running


def tools(port: int = 0) -> AbstractContextManager[ToolProcess]:
    return tool_process(str(client_python("langchain")), port)


def said(chat: Chat, message: str) -> tuple[Answered, float]:
    """The answer, and how long it took."""
    began = time.monotonic()
    return chat.say(message), time.monotonic() - began


def is_friendly(answer: Answered) -> bool:
    (told,) = answer.named("ERROR")
    spoken = (answer.done["final_output"], answer.done["status"], told["error"])
    return spoken == (f"The tool says: {FRIENDLY}", "degraded", FRIENDLY)


def state(chat: Chat) -> str:
    return str(json.loads(chat.request("GET", "/health").body)["mcp"])


def works(chat: Chat) -> bool:
    done = chat.say("Say tea twice").done
    spoken = (done["final_output"], done["status"])
    return spoken == ("The tool says: tea tea", "ok")


def test_a_server_killed_during_a_call_is_told_in_five_seconds_and_is_back_with_the_next_turn(
    model: OpenAiServer,
) -> None:
    # S1-024 S1-048 F1-03 F1-11 F2-06 F2-10
    with tools() as server, chat_with(server, model) as running:
        killed: list[float] = []

        def kill() -> None:
            server.wait_for_a_call()
            server.process.send_signal(signal.SIGKILL)
            killed.append(time.monotonic())

        killing = threading.Thread(target=kill)
        killing.start()
        answer = running.say("Wait")
        killing.join()
        assert in_time(time.monotonic() - killed[0], 5)
        assert is_friendly(answer)
        assert state(running) == "Failed"
        answer, seconds = said(running, "Say tea twice")
        assert is_friendly(answer)
        assert in_time(seconds, 1)
        with tools(server.port):
            assert works(running)
            assert state(running) == "Connected"
    assert "MCP server was lost during a call of 'waits': peer closed" in running.said_later[0]


def test_a_server_that_hangs_costs_its_five_seconds_once(model: OpenAiServer) -> None:
    # F2-06 S1-048 C10
    with tools() as server, chat_with(server, model) as running:
        assert works(running)
        server.process.send_signal(signal.SIGSTOP)
        for limit in (5, 1, 1):
            answer, seconds = said(running, "Say tea twice")
            assert is_friendly(answer)
            assert in_time(seconds, limit)
        server.process.send_signal(signal.SIGCONT)
        # What it is asked first may still be behind what it did not answer.
        wait_until(lambda: works(running), what="an answer of the tool")
        assert state(running) == "Connected"
    assert "MCP server was lost during a call of 'double': no answer" in running.said_later[0]


def test_without_a_model_too_a_server_that_hangs_is_told_in_five_seconds() -> None:
    # F2-06 S1-048 C10
    with tools() as server, chat(MCP_URL=server.url) as running:
        done = running.say('Double "tea"').done
        assert "It answered:\ntea tea" in done["final_output"]
        # The server was asked which tool fits.
        assert "search +" in done["final_output"]
        server.process.send_signal(signal.SIGSTOP)
        for limit in (5, 1):
            answer, seconds = said(running, 'Double "tea"')
            (told,) = answer.named("ERROR")
            assert (told["error"], answer.done["status"]) == (FRIENDLY, "degraded")
            assert in_time(seconds, limit)
    assert "MCP server was lost during a call of 'double': no answer" in running.said_later[0]


def test_a_server_that_freezes_during_a_call_is_told_in_five_seconds(model: OpenAiServer) -> None:
    # F2-06 S1-024 S1-048 F1-11
    with tools() as server, chat_with(server, model) as running:
        frozen: list[float] = []

        def freeze() -> None:
            server.wait_for_a_call()
            # With the second the first has shown that the server answers while this tool works.
            server.wait_for_a_ping()
            server.wait_for_a_ping()
            server.process.send_signal(signal.SIGSTOP)
            frozen.append(time.monotonic())

        freezing = threading.Thread(target=freeze)
        freezing.start()
        answer = running.say("Wait")
        freezing.join()
        assert in_time(time.monotonic() - frozen[0], 5)
        assert is_friendly(answer)
        assert state(running) == "Failed"
    why = "MCP server was lost during a call of 'waits': it has stopped answering anything"
    assert why in running.said_later[0]
