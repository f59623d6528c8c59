"""Prompts and resources as the doors get them, on a running process."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from tests.factories import (
    make_client,
    make_prompt,
    make_resource,
    make_service,
    make_toolset,
)
from tools.contracts import CallerKind, Credentials, ServiceState
from tools.errors import (
    ControlPlaneError,
    InvalidArguments,
    PromptNotFound,
    RateLimited,
    ResourceNotFound,
    Starting,
    Stopping,
    Unauthenticated,
)
from tools.execution import offerings
from tools.execution.runtime import Runtime, open_runtime
from tools.models import ToolRequest

pytestmark = pytest.mark.django_db(transaction=True)

ANYONE = Credentials(CallerKind.ANONYMOUS, address="127.0.0.1")
REQUEST_ID = "5f0c6f0e-8a3f-4c7a-9d2b-0d9b8f2f7c11"
DOCUMENT = {"records": [{"id": number} for number in range(45)], "a/b": "grüße"}
PIXEL = "iVBORw0KGgo="


@dataclass(frozen=True)
class Serving:
    """A running process and what it serves under."""

    runtime: Runtime

    async def keep(self, owner: str = "address:127.0.0.1") -> None:
        """Keep a result for the caller at 127.0.0.1."""
        assert await self.runtime.kept.keep(REQUEST_ID, owner, json.dumps(DOCUMENT))


Start = Callable[[], Awaitable[Serving]]


@pytest.fixture
async def start(transactional_db: None, redis_url: str) -> AsyncIterator[Start]:
    """Serve what the catalogue has by then."""
    async with AsyncExitStack() as opened:

        async def begin() -> Serving:
            return Serving(await opened.enter_async_context(open_runtime()))

        yield begin


rows = sync_to_async


async def test_prompt_is_listed_and_rendered(start: Start) -> None:
    await rows(make_prompt)(
        name="ask",
        description="Asks.",
        arguments=[{"name": "topic", "required": True}, {"name": "tone"}],
        messages=[
            {"role": "user", "content": {"type": "text", "text": "About {topic}{tone}, {{ok}}"}},
            {"role": "assistant", "content": {"type": "text", "text": "{topic}!"}},
            {"role": "user", "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}},
        ],
    )
    await start()
    assert [spec.name for spec in await offerings.list_prompts(ANYONE)] == ["ask"]
    assert await offerings.get_prompt(ANYONE, "ask", {"topic": "{tone} & sheep"}) == {
        "description": "Asks.",
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "About {tone} & sheep, {ok}"}},
            {"role": "assistant", "content": {"type": "text", "text": "{tone} & sheep!"}},
            {"role": "user", "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}},
        ],
    }


@pytest.mark.parametrize(
    ("arguments", "parameter", "expected"),
    [
        ({}, "topic", "a text that is not empty"),
        ({"topic": ""}, "topic", "a text that is not empty"),
        ({"topic": 5}, "topic", "a text"),
        ({"topic": "a", "colour": "b"}, "colour", "only topic"),
        ({"topic": "x" * 5_000_000}, "arguments", "values that give at most 4194304 characters"),
    ],
)
async def test_wrong_arguments_are_told(
    start: Start, arguments: dict[str, Any], parameter: str, expected: str
) -> None:
    # S4-066 S4-068 S4-071
    await rows(make_prompt)(name="ask")
    await start()
    with pytest.raises(InvalidArguments) as caught:
        await offerings.get_prompt(ANYONE, "ask", arguments)
    details = caught.value.details
    assert caught.value.message == f"Invalid parameter: {parameter}"
    assert (details.parameter, details.expected) == (parameter, expected)
    assert details.suggestion


async def test_argument_that_must_be_an_address_is_one(start: Start) -> None:
    block = {"type": "resource", "resource": {"uri": "{page}", "text": "See"}}
    await rows(make_prompt)(
        name="see", arguments=[{"name": "page"}], messages=[{"role": "user", "content": block}]
    )
    await start()
    answer = await offerings.get_prompt(ANYONE, "see", {"page": "docs://guide"})
    assert answer["messages"][0]["content"]["resource"]["uri"] == "docs://guide"
    with pytest.raises(InvalidArguments):
        await offerings.get_prompt(ANYONE, "see", {"page": "guide"})


async def test_resource_is_listed_and_read(start: Start) -> None:
    await rows(make_resource)(uri="docs://b", name="b", text="{as it is}", mime_type="text/plain")
    await rows(make_resource)(uri="docs://a", name="a", blob=PIXEL)
    await start()
    listed = await offerings.list_resources(ANYONE)
    assert [spec.uri for spec in listed] == ["docs://a", "docs://b"]
    assert await offerings.read_resource(ANYONE, "docs://b") == (
        {"uri": "docs://b", "mimeType": "text/plain", "text": "{as it is}"},
    )
    assert await offerings.read_resource(ANYONE, "docs://a") == (
        {"uri": "docs://a", "blob": PIXEL},
    )


async def test_template_is_listed_apart_and_read_with_its_variables(start: Start) -> None:
    await rows(make_resource)(uri="docs://{id}", is_template=True, text="Page {id} {{}}")
    await start()
    assert await offerings.list_resources(ANYONE) == ()
    templates = await offerings.list_resource_templates(ANYONE)
    assert [spec.uri for spec in templates] == ["docs://{id}", "result://{request_id}"]
    assert await offerings.read_resource(ANYONE, "docs://gr%C3%BCn") == (
        {"uri": "docs://gr%C3%BCn", "text": "Page grün {}"},
    )


async def test_callers_see_what_their_sets_hold(start: Start) -> None:
    prompt, resource = await rows(make_prompt)(), await rows(make_resource)()
    await rows(make_prompt)(name="hidden")
    await rows(make_resource)(uri="docs://hidden")
    toolset = await rows(make_toolset)(prompts=[prompt], resources=[resource])
    _, key = await rows(make_client)(toolsets=[toolset])
    await start()
    granted = Credentials(CallerKind.API_KEY, secret=key)
    assert [spec.name for spec in await offerings.list_prompts(granted)] == [prompt.name]
    assert [spec.uri for spec in await offerings.list_resources(granted)] == [resource.uri]
    with pytest.raises(PromptNotFound):
        await offerings.get_prompt(granted, "hidden", {})
    with pytest.raises(ResourceNotFound):
        await offerings.read_resource(granted, "docs://hidden")
    narrowed = Credentials(CallerKind.ANONYMOUS, toolset=toolset.slug)
    assert [spec.name for spec in await offerings.list_prompts(narrowed)] == [prompt.name]


async def test_stranger_is_refused_everywhere(start: Start) -> None:
    await start()
    wrong = Credentials(CallerKind.API_KEY, secret="cp_wrong")
    for attempt in (
        offerings.list_prompts(wrong),
        offerings.get_prompt(wrong, "ask", {}),
        offerings.list_resources(wrong),
        offerings.list_resource_templates(wrong),
        offerings.read_resource(wrong, "docs://a"),
        offerings.complete(wrong, {"type": "ref/prompt", "name": "ask"}, "topic", ""),
    ):
        with pytest.raises(Unauthenticated):
            await attempt


async def test_reads_take_calls_of_the_caller_and_leave_no_row_in_the_log(start: Start) -> None:
    await rows(make_service)(security_rate_limit=10)
    await rows(make_prompt)(name="ask")
    await rows(make_resource)(uri="docs://a")
    await start()
    for _ in range(5):
        await offerings.list_prompts(ANYONE)
        await offerings.get_prompt(ANYONE, "ask", {"topic": "a"})
        await offerings.read_resource(ANYONE, "docs://a")
    for attempt in (
        offerings.get_prompt(ANYONE, "ask", {"topic": "a"}),
        offerings.read_resource(ANYONE, "docs://a"),
        offerings.read_resource(ANYONE, f"result://{REQUEST_ID}"),
    ):
        with pytest.raises(RateLimited):
            await attempt
    await offerings.list_resources(ANYONE)
    assert await rows(ToolRequest.objects.count)() == 0


async def test_kept_result_is_read_whole(start: Start) -> None:
    serving = await start()
    await serving.keep()
    for uri in (f"result://{REQUEST_ID}", f"result://{REQUEST_ID.upper()}/"):
        (content,) = await offerings.read_resource(ANYONE, uri)
        assert content == {
            "uri": uri,
            "mimeType": "application/json",
            "text": json.dumps(DOCUMENT),
        }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "pointer=/records&page=2&page_size=20",
            {"kind": "list", "items": DOCUMENT["records"][20:40], "total": 45, "page": 2},
        ),
        ("page=1&pointer=%2Frecords%2F3", {"kind": "object", "entries": {"id": 3}}),
        ("pointer=/a~1b", {"kind": "text", "text": "grüße"}),
        ("page_size=1", {"kind": "object", "pages": 2, "page_size": 1}),
    ],
)
async def test_kept_result_is_read_in_pages_as_the_tool_reads_it(
    start: Start, query: str, expected: dict[str, Any]
) -> None:
    serving = await start()
    await serving.keep()
    (content,) = await offerings.read_resource(ANYONE, f"result://{REQUEST_ID}?{query}")
    page = json.loads(content["text"])
    assert page["request_id"] == REQUEST_ID
    assert {key: page[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("page=0", "page"),
        ("page=two", "page"),
        ("page=99&pointer=/records", "page"),
        ("page_size=201", "page_size"),
        ("pointer=/nowhere", "pointer"),
        ("size=3", "size"),
        ("page=" + "9" * 5000, "page"),
    ],
)
async def test_wrong_query_of_a_kept_result_is_told(
    start: Start, query: str, parameter: str
) -> None:
    serving = await start()
    await serving.keep()
    with pytest.raises(InvalidArguments) as caught:
        await offerings.read_resource(ANYONE, f"result://{REQUEST_ID}?{query}")
    assert caught.value.details.parameter == parameter
    assert caught.value.details.suggestion


@pytest.mark.parametrize(
    "uri",
    [
        f"result://{uuid.UUID(int=4)}",
        "result://",
        "result:x",
        "result://not-an-id",
        f"result://{REQUEST_ID}/more",
        f"result://{REQUEST_ID}#part",
        "result://[",
    ],
)
async def test_nothing_is_kept_there(start: Start, uri: str) -> None:
    serving = await start()
    await serving.keep()
    with pytest.raises(ResourceNotFound) as caught:
        await offerings.read_resource(ANYONE, uri)
    assert "Call the tool again" in (caught.value.details.suggestion or "")


async def test_result_of_another_caller_does_not_exist(start: Start) -> None:
    serving = await start()
    await serving.keep(owner="client:7")
    with pytest.raises(ResourceNotFound):
        await offerings.read_resource(ANYONE, f"result://{REQUEST_ID}")


async def test_completions_begin_with_what_was_typed_and_then_hold_it(start: Start) -> None:
    choices = ["goat", "sheep", "Shetland sheep", "shepherd"]
    await rows(make_prompt)(
        name="ask", arguments=[{"name": "topic", "choices": choices}, {"name": "tone"}]
    )
    await start()
    ref = {"type": "ref/prompt", "name": "ask"}
    assert await offerings.complete(ANYONE, ref, "topic", "SHEE") == {
        "values": ["sheep", "Shetland sheep"],
        "total": 2,
        "hasMore": False,
    }
    assert (await offerings.complete(ANYONE, ref, "topic", ""))["values"] == choices
    assert (await offerings.complete(ANYONE, ref, "tone", "a"))["values"] == []


async def test_completions_of_templates_come_in_hundreds(start: Start) -> None:
    numbers = [str(number) for number in range(250)]
    await rows(make_resource)(
        uri="docs://{id}/{part}", is_template=True, text="{id}", choices={"id": numbers}
    )
    await start()
    ref = {"type": "ref/resource", "uri": "docs://{id}/{part}"}
    found = await offerings.complete(ANYONE, ref, "id", "")
    assert (found["values"], found["total"], found["hasMore"]) == (numbers[:100], 250, True)
    assert (await offerings.complete(ANYONE, ref, "part", ""))["values"] == []
    kept = {"type": "ref/resource", "uri": "result://{request_id}"}
    assert (await offerings.complete(ANYONE, kept, "request_id", "a"))["values"] == []


@pytest.mark.parametrize(
    ("ref", "error"),
    [
        ({"type": "ref/prompt", "name": "ask"}, InvalidArguments),
        ({"type": "ref/prompt", "name": "other"}, PromptNotFound),
        ({"type": "ref/prompt"}, PromptNotFound),
        ({"type": "ref/resource", "uri": "docs://other"}, ResourceNotFound),
        ({"type": "ref/tool", "name": "ask"}, InvalidArguments),
        ({}, InvalidArguments),
    ],
)
async def test_completion_of_what_is_not_there_is_refused(
    start: Start, ref: dict[str, Any], error: type[ControlPlaneError]
) -> None:
    await rows(make_prompt)(name="ask")
    await start()
    with pytest.raises(error):
        await offerings.complete(ANYONE, ref, "nothing", "")


async def test_process_that_stops_hands_out_nothing_new(start: Start) -> None:
    await rows(make_prompt)(name="ask")
    serving = await start()
    serving.runtime.become(ServiceState.SHUTTING_DOWN)
    with pytest.raises(Stopping):
        await offerings.get_prompt(ANYONE, "ask", {"topic": "a"})
    with pytest.raises(Stopping):
        await offerings.read_resource(ANYONE, "docs://a")


async def test_process_that_has_no_catalogue_yet_says_so(transactional_db: None) -> None:
    with pytest.raises(Starting):
        await offerings.list_prompts(ANYONE)
