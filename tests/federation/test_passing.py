"""What passes between clients and upstream servers: results, progress, cancellation, large answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.doors import RestDoor
from tests.federation.plane import SOME_WAYS, every_era, plane
from tests.mcp_upstream_tools import PIXEL, SOUND
from tests.processes import wait_until
from tests.tools.mcp_server.clients import User, Way, user_of
from tests.upstream_rows import definition
from tools.backends.upstream.results import Malformed, checked
from tools.mcp_server.older import readable
from tools.models import Tool

BLOCKS = {
    "image": {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    "audio": {"type": "audio", "data": SOUND, "mimeType": "audio/wav"},
    "link": {
        "type": "resource_link",
        "uri": "trial://page",
        "name": "page",
        "mimeType": "text/plain",
    },
    "embedded": {
        "type": "resource",
        "resource": {"uri": "trial://page", "mimeType": "text/plain", "text": "The page."},
    },
}


@every_era
def test_content_arrives_as_the_server_wrote_it(door: RestDoor, tmp_path: Path, era: str) -> None:
    with plane(door, tmp_path, era) as served:
        for user in _users(served.url):
            for tool, block in BLOCKS.items():
                result = user.call(tool)
                assert result.is_error is False
                assert [_wire(one) for one in result.content] == [block]
            structured = user.call("structured", {"number": 3})
            assert structured.structured_content == {"number": 3, "double": 6}
            assert [block.text for block in structured.content] == ["3 and 6"]
        for tool, block in BLOCKS.items():
            assert served.rest(tool)["data"] == {"content": [block]}
        assert served.rest("structured", {"number": 3})["data"] == {"number": 3, "double": 6}


def test_rest_gets_texts_that_say_more_than_the_structured_content(
    door: RestDoor, tmp_path: Path
) -> None:
    with plane(door, tmp_path) as served:
        data = served.rest("context")["data"]
    assert data["content"] == [{"type": "text", "text": "see inside"}]
    assert data["structuredContent"]["meta"]["request_id"]


def test_older_clients_get_blocks_that_their_version_knows(door: RestDoor, tmp_path: Path) -> None:
    in_words = {"type": "text", "text": "page: trial://page"}
    blob = {"uri": "audio://content", "mimeType": "audio/wav", "blob": SOUND}
    as_resource = {"type": "resource", "resource": blob}
    expected = {
        "2024-11-05": (in_words, as_resource),
        "2025-03-26": (in_words, BLOCKS["audio"]),
        "2025-06-18": (BLOCKS["link"], BLOCKS["audio"]),
        "2025-11-25": (BLOCKS["link"], BLOCKS["audio"]),
    }
    with plane(door, tmp_path) as served:
        for version, (link, sound) in expected.items():
            assert _old_call(served.url, version, "image") == [BLOCKS["image"]]
            assert _old_call(served.url, version, "link") == [link]
            assert _old_call(served.url, version, "audio") == [sound]


@every_era
def test_an_error_of_the_tool_keeps_its_own_words(door: RestDoor, tmp_path: Path, era: str) -> None:
    with plane(door, tmp_path, era) as served:
        for user in _users(served.url):
            result = user.call("fail", {"message": "There is no todo 7."})
            assert result.is_error is True
            assert [block.text for block in result.content] == ["There is no todo 7."]
        over_rest = door.call("fail", {"message": "There is no todo 7."})
    assert over_rest.status_code == 500
    assert over_rest.json()["code"] == "EXECUTION_ERROR"
    assert over_rest.json()["error"] == "There is no todo 7."


@every_era
def test_progress_comes_in_order_and_before_the_answer(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    heard: list[Any] = []
    steps = [(float(step), 5.0, f"step {step}") for step in range(1, 6)]

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    with plane(door, tmp_path, era) as served:
        for user in _users(served.url):
            result = user.call("progress", {"steps": 5}, progress_callback=note)
            heard.append("answer")
            assert result.content[0].text == "5 steps"
            assert heard == [*steps, "answer"]
            heard.clear()


@every_era
def test_cancelling_a_call_cancels_it_at_the_server(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    with plane(door, tmp_path, era) as served:
        for number, user in enumerate(_users(served.url), start=1):
            running = user.begin(partial(user.client.call_tool, "sleep", {"ms": 60_000}))
            _wait_for(number, partial(served.upstream.executions, "sleep"))
            running.cancel()
            _wait_for(number, partial(served.upstream.events, "cancelled"))
            assert user.call("echo", {"text": "still here"}).content[0].text == "still here"
        assert {one["tool"] for one in served.upstream.events("cancelled")} == {"sleep"}


@every_era
def test_hanging_up_cancels_the_call_at_the_server(
    door: RestDoor, tmp_path: Path, era: str
) -> None:
    with plane(door, tmp_path, era) as served:
        body = {"tool": "sleep", "arguments": {"ms": 60_000}}
        asked: tuple[tuple[str, Any, dict[str, str]], ...] = (
            ("/call-tool", body, {}),
            ("/mcp", _old_message("sleep", {"ms": 60_000}), _old_headers("2025-11-25")),
        )
        for number, (path, message, headers) in enumerate(asked, start=1):
            with pytest.raises(httpx2.ReadTimeout):
                httpx2.post(f"{served.url}{path}", json=message, headers=headers, timeout=0.5)
            _wait_for(number, partial(served.upstream.events, "cancelled"))
        assert served.rest("echo", {"text": "still here"})["success"]


def test_a_large_answer_is_shortened_and_kept_whole(door: RestDoor, tmp_path: Path) -> None:
    with plane(door, tmp_path) as served:
        for user in _users(served.url):
            result = user.call("huge", {"kilobytes": 100})
            budget = result.meta["budget"]
            assert budget["applied"] is True
            assert budget["tokens_after"] <= Tool.objects.get(name="huge").token_budget
            arguments = {**budget["full_result"]["arguments"], "pointer": "/content/0/text"}
            whole = _whole_text(partial(user.call, "read_result"), arguments)
            assert whole == "0123456789abcde\n" * 6400


def test_media_is_never_cut_and_does_not_count(door: RestDoor, tmp_path: Path) -> None:
    mixed_tool = definition("mixed", inputSchema={"type": "object"})
    with plane(door, tmp_path, switches={"more_tools": [mixed_tool]}) as served:
        picture = served.rest("image")
        assert "budget" not in picture["meta"]
        mixed = served.rest("mixed", {"kilobytes": 50})
        with user_of(served.url, Way("streamable_http", "auto")) as user:
            result = user.call("mixed", {"kilobytes": 50})
    assert mixed["meta"]["budget"]["applied"] is True
    assert mixed["data"]["media"] == [BLOCKS["image"]]
    assert [_wire(block) for block in result.content if block.type == "image"] == [BLOCKS["image"]]


def test_answers_of_upstream_tools_are_not_cached_unless_an_operator_says_so(
    door: RestDoor, tmp_path: Path
) -> None:
    with plane(door, tmp_path) as served:
        assert not Tool.objects.filter(cache_ttl_seconds__isnull=False).exists()
        for _ in range(2):
            served.rest("counted", {"key": "one"})
            served.rest("echo", {"text": "one"})
        assert len(served.upstream.executions("counted")) == 2
        assert len(served.upstream.executions("echo")) == 2


def test_an_answer_that_is_none_becomes_a_clear_error(door: RestDoor, tmp_path: Path) -> None:
    # F2-20
    with plane(door, tmp_path) as served:
        with user_of(served.url, Way("streamable_http", "legacy")) as user:
            results = [user.call(tool) for tool in ("malformed", "garbage")]
        failed = [served.rest(tool) for tool in ("malformed", "garbage")]
        assert served.rest("echo", {"text": "well"})["success"]
    for answer, result in zip(failed, results, strict=True):
        assert answer["code"] == "EXECUTION_ERROR"
        assert answer["error"] == "trial gave an answer that cannot be understood"
        assert result.is_error is True
        assert result.structured_content["error"]["message"] == answer["error"]


@pytest.mark.parametrize(
    "block",
    [
        "a text",
        {"text": "without a type"},
        {"type": "text"},
        {"type": "image", "mimeType": "image/png"},
        {"type": "audio", "data": 7, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "trial://page"},
        {"type": "resource", "resource": "trial://page"},
        {"type": "resource", "resource": {"uri": "trial://page"}},
    ],
)
def test_a_block_that_would_break_clients_is_not_passed_on(block: Any) -> None:
    with pytest.raises(Malformed):
        checked({"content": [block]})


def test_a_block_of_a_kind_that_is_not_known_here_is_passed_on() -> None:
    block = {"type": "hologram", "depth": 3}
    assert checked({"content": [block], "isError": False}) == {"content": [block]}


def test_clients_without_structured_content_read_it_as_text() -> None:
    result = {"content": [], "structuredContent": {"größe": 3}}
    assert readable(result, "2025-11-25") == result
    assert readable(result, "2025-03-26")["content"] == [{"type": "text", "text": '{"größe": 3}'}]


def _users(url: str) -> Iterator[User]:
    """One client after the other: both eras of Streamable HTTP, and a connection that stays."""
    for way in SOME_WAYS:
        with user_of(url, way) as user:
            yield user


def _wait_for(number: int, events: Callable[[], list[Any]]) -> None:
    wait_until(lambda: len(events()) >= number, what=f"event {number} at the server")


def _wire(block: Any) -> dict[str, Any]:
    found: dict[str, Any] = block.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


def _whole_text(read: Any, arguments: dict[str, Any]) -> str:
    """The text at a pointer into a kept result, page by page."""
    text, page = "", 1
    while True:
        answer = read({**arguments, "page": page}).structured_content
        text += str(answer["text"])
        if page >= answer["pages"]:
            return text
        page += 1


def _old_message(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _old_headers(version: str) -> dict[str, str]:
    return {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
    }


def _old_call(url: str, version: str, tool: str) -> list[dict[str, Any]]:
    """The content that a client of that version gets, over the wire."""
    answer = httpx2.post(
        f"{url}/mcp", json=_old_message(tool, {}), headers=_old_headers(version), timeout=10
    )
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: {"))
    content: list[dict[str, Any]] = json.loads(text)["result"]["content"]
    return content
