"""Questions of upstream tools to the user of a client, in both eras on both sides."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
from django.conf import settings

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_toolset
from tests.federation.plane import Plane, every_era, plane, register_stdio
from tests.mcp_upstream import stdio_entry
from tests.mcp_upstream_state import Folder
from tests.mcp_upstream_tools import QUESTION
from tests.processes import wait_until
from tests.second_web import second_web_process
from tests.tools.mcp_server.clients import WAYS, User, Way, user_of
from tests.tools.mcp_server.test_processes import ACCEPT, INITIALIZE
from tools.mcp_server import questions
from tools.models import Tool

MODERN = Way("streamable_http", "auto")
LEGACY = [way for way in WAYS if way.mode == "legacy"]
CANNOT = "elicit has to ask its caller something, and this caller cannot be asked"
NOBODY = "There is nobody to ask."
ELICITING: dict[str, Any] = {"elicitation": {"form": {}}}


@contextmanager
def person(url: str, way: Way, **answer: Any) -> Iterator[tuple[User, list[str]]]:
    """A client whose user gives that answer to every question, and the questions so far."""
    asked: list[str] = []

    async def reply(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(**answer)

    with user_of(url, way, elicitation_callback=reply) as user:
        yield user, asked


@every_era
def test_the_user_is_asked_and_the_answer_reaches_the_server(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    with plane(door, tmp_path, era) as served:
        for way in (*LEGACY, MODERN):
            with person(served.url, way, action="accept", content={"name": "Ada"}) as (user, asked):
                result = user.call("elicit")
            assert (result.is_error, result.content[0].text) == (False, "Hello Ada."), way
            assert asked == ["What is your name?"]


@every_era
def test_what_a_user_declines_or_dismisses_reaches_the_server(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    with plane(door, tmp_path, era) as served:
        for way, action in itertools.product((*LEGACY[:2], MODERN), ("decline", "cancel")):
            with person(served.url, way, action=action) as (user, asked):
                result = user.call("elicit")
            assert (result.is_error, result.content[0].text) == (True, f"No name: {action}."), way
            assert asked == ["What is your name?"]


@every_era
def test_who_cannot_be_asked_gets_a_clear_error(door: RestDoor, tmp_path: Path, era: str) -> None:
    with plane(door, tmp_path, era) as served:
        # A server that sees beforehand that nobody can be asked may say so itself; others insist.
        for insist in ("", "ask", "refuse"):
            served.upstream.set(insist=insist)
            expected = NOBODY if era == "modern" and not insist else CANNOT
            for way in (*LEGACY[:2], MODERN):
                with user_of(served.url, way) as user:
                    result = user.call("elicit")
                assert result.is_error is True
                assert result.structured_content["error"]["message"].startswith(expected)
            over_rest = door.call("elicit")
            assert over_rest.status_code == 500
            assert over_rest.json()["code"] == "EXECUTION_ERROR"
            assert over_rest.json()["error"].startswith(expected)
            if expected == CANNOT:
                told = result.structured_content["error"]["data"]["suggestion"]
                assert told == "Call it with an MCP client that supports elicitation"
                assert over_rest.json()["meta"]["details"]["suggestion"] == told


@every_era
def test_questions_travel_as_an_answer_and_the_state_is_sealed(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    make_service(security_api_keys_enabled=True)
    with plane(door, tmp_path, era, switches=_second_tool()) as served:
        tools = make_toolset(tools=list(Tool.objects.all()))
        keys = [make_client(toolsets=[tools])[1] for _ in range(2)]
        served.settle()
        with _leg(served, keys[0]) as call:
            first = call("elicit")
            assert first["resultType"] == "input_required"
            ((name, question),) = first["inputRequests"].items()
            assert question == {"method": "elicitation/create", "params": QUESTION}
            state, answers = first["requestState"], {name: _accept("Ada")}
            done = call("elicit", inputResponses=answers, requestState=state)
            assert done["content"] == [{"type": "text", "text": "Hello Ada."}]
            for bad in (f"{state[:-1]}{'A' if state[-1] != 'A' else 'B'}", "asked", ""):
                _assert_refused(call("elicit", inputResponses=answers, requestState=bad))
            _assert_refused(call("ask_too", inputResponses=answers, requestState=state))
        with _leg(served, keys[1]) as call:
            _assert_refused(call("elicit", inputResponses=answers, requestState=state))


def test_a_server_cannot_ask_the_model_of_a_client(door: RestDoor, tmp_path: Path) -> None:
    async def write(*_: Any) -> Any:
        raise AssertionError("nobody may use the client's model")

    with plane(door, tmp_path, "modern", switches={"insist": "sample"}) as served:
        for way in (MODERN, *LEGACY[:2]):
            options: dict[str, Any] = {"sampling_callback": write, "elicitation_callback": write}
            with user_of(served.url, way, **options) as user:
                result = user.call("elicit")
            assert result.is_error is True
            words = "The tool asks for something other than its user's words"
            assert result.structured_content["error"]["message"] == words


def test_a_tool_that_asks_is_answered_from_the_cache_for_nobody_who_can_be_asked(
    door: RestDoor, tmp_path: Path
) -> None:
    with plane(door, tmp_path) as served:
        tool = Tool.objects.get(name="elicit")
        tool.cache_ttl_seconds = 60
        tool.save()
        served.settle()
        for name in ("Ada", "Alan"):
            with person(served.url, MODERN, action="accept", content={"name": name}) as (user, _):
                assert user.call("elicit").content[0].text == f"Hello {name}."
        assert served.rest("elicit")["success"] is False


def test_a_question_that_may_belong_to_several_calls_is_cancelled(
    door: RestDoor, tmp_path: Path
) -> None:
    commands = settings.CONTROL_PLANE["UPSTREAM_COMMANDS"]
    folder = Folder(tmp_path)
    folder.set(era="handshake")
    commands["trial"] = stdio_entry(tmp_path)
    try:
        register_stdio()
        door.start()
        answer = {"action": "accept", "content": {"name": "Ada"}}
        with person(door.url, LEGACY[1], **answer) as (user, asked):
            assert user.call("elicit").content[0].text == "Hello Ada."
            # Over stdio nothing says which call a question belongs to.
            sleeping = user.begin(partial(user.client.call_tool, "sleep", {"ms": 60_000}))
            wait_until(lambda: _calls(folder, "sleep") == 1, what="the other call")
            with_another = user.call("elicit")
            sleeping.cancel()
        assert asked == ["What is your name?"]
        assert with_another.is_error is True
        assert with_another.content[0].text == "No name: cancel."
    finally:
        door.stop()
        del commands["trial"]


def test_an_answer_that_lands_on_another_process_reaches_the_call(
    door: RestDoor, tmp_path: Path
) -> None:
    capable = {**INITIALIZE["params"], "capabilities": ELICITING}  # type: ignore[dict-item]
    with plane(door, tmp_path) as served, second_web_process(tmp_path / "web.log") as other:
        opened = httpx2.post(
            f"{other}/mcp", json={**INITIALIZE, "params": capable}, headers=ACCEPT, timeout=20
        )
        label = {"mcp-session-id": opened.headers["mcp-session-id"]}
        headers = {**ACCEPT, **label, "MCP-Protocol-Version": "2025-11-25"}
        asked = _old_call("elicit")
        with httpx2.stream(
            "POST", f"{served.url}/mcp", json=asked, headers=headers, timeout=20
        ) as stream:
            messages = (
                json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: {")
            )
            question = next(messages)
            assert question["params"]["message"] == "What is your name?"
            # Somebody else, or somebody who guesses, cannot answer in place of the client.
            forged = {"jsonrpc": "2.0", "id": question["id"], "result": _accept("Eve")}
            httpx2.post(
                f"{other}/mcp",
                json=forged,
                headers={**headers, "mcp-session-id": "0" * 32 + "-elicits"},
            )
            answer = {**forged, "result": _accept("Ada")}
            posted = httpx2.post(f"{other}/mcp", json=answer, headers=headers)
            assert posted.status_code == 202
            assert next(messages)["result"]["content"][0]["text"] == "Hello Ada."


@every_era
def test_a_question_ends_with_the_call_it_belongs_to(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    asked: list[str] = []

    async def never(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        await anyio.sleep_forever()
        raise AssertionError

    with plane(door, tmp_path, era) as served:
        with user_of(served.url, LEGACY[0], elicitation_callback=never) as user:
            running = user.begin(partial(user.client.call_tool, "elicit", {}))
            wait_until(lambda: bool(asked) and len(questions._waiting) == 1, what="the question")
            running.cancel()
            wait_until(lambda: not questions._waiting, what="the end of the question")
        assert served.rest("echo", {"text": "well"})["success"]


def test_the_time_a_person_takes_is_not_the_tools_time(door: RestDoor, tmp_path: Path) -> None:
    async def think(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        await anyio.sleep(1.5)
        return types.ElicitResult(**_accept("Ada"))

    with plane(door, tmp_path, call_timeout=1) as served:
        for way in LEGACY[:2]:
            with user_of(served.url, way, elicitation_callback=think) as user:
                assert user.call("elicit").content[0].text == "Hello Ada."
        late = door.call("sleep", {"ms": 60_000})
    assert late.status_code == 504


def _old_call(tool: str) -> dict[str, Any]:
    params = {"name": tool, "arguments": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _calls(folder: Folder, tool: str) -> int:
    return len([call for call in folder.events("call") if call["tool"] == tool])


def _second_tool() -> dict[str, Any]:
    second = {"name": "ask_too", "description": "Asks too.", "inputSchema": {"type": "object"}}
    return {"more_tools": [second]}


def _accept(name: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"name": name}}


@contextmanager
def _leg(served: Plane, key: str) -> Iterator[Any]:
    """A client of the stateless era, message by message."""

    def call(tool: str, **more: Any) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": ELICITING,
        }
        params = {"name": tool, "arguments": {}, "_meta": meta, **more}
        answer = served.door.client.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={
                "Accept": "application/json, text/event-stream",
                "Authorization": f"Bearer {key}",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": tool,
            },
        )
        result: dict[str, Any] = answer.json()["result"]
        return result

    yield call


def _assert_refused(result: dict[str, Any]) -> None:
    assert result["isError"] is True
    error = result["structuredContent"]["error"]
    assert error["message"] == "Invalid parameter: requestState"
    assert error["data"]["suggestion"] == "Make the call again from the start"
