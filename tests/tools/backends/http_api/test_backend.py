"""Calls that go well, from the binding to the data."""

from __future__ import annotations

import asyncio

import pytest

from tests.http_server import HttpServer, Reply, json_reply
from tests.tools.backends.http_api.calls import (
    body_field,
    call,
    context,
    get,
    in_path,
    post,
    query,
    service,
    spec_of,
)
from tools.backends.http_api import HttpApiBackend
from tools.contracts import BackendResult
from tools.errors import ServiceUnavailable


async def test_arguments_become_a_request_and_its_answer_the_data(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    # S4-018
    server.always = json_reply({"id": 7, "name": "Käse"})
    operation = get("/things/{id}", in_path("id"), query("lang"), query("limit"))
    data = await call(
        backend, service(f"{server.url}/v1/"), operation, {"id": 7, "lang": "de", "limit": None}
    )
    assert data == {"id": 7, "name": "Käse"}
    [asked] = server.asked
    assert (asked.method, asked.target, asked.body) == ("GET", "/v1/things/7?lang=de", b"")
    assert asked.header("host") == f"127.0.0.1:{server.port}"
    assert asked.header("accept") == "application/json"


async def test_fields_are_sent_as_json_with_what_is_always_sent(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    operation = post(
        "/things", body_field("name"), body_field("size"), body={"size": 1, "kind": "cheese"}
    )
    await call(backend, service(server.url), operation, {"name": "Brie", "size": None})
    [asked] = server.asked
    assert asked.body == b'{"size":null,"kind":"cheese","name":"Brie"}'
    assert asked.header("content-type") == "application/json"


async def test_connections_are_kept_between_calls(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    for _ in range(5):
        await call(backend, service(server.url), get())
    assert (len(server.asked), server.connections) == (5, 1)


async def test_a_selection_picks_from_the_answer(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = json_reply({"items": [{"id": 1, "x": 0}, {"id": 2, "x": 0}]})
    data = await call(backend, service(server.url), get(select="items[].id"))
    assert data == [1, 2]


async def test_calls_at_the_same_time_do_not_wait_for_each_other(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.behave(Reply(hang=True))
    hanging = asyncio.create_task(call(backend, service(server.url), get("/slow")))
    await asyncio.to_thread(server.under_way.wait, 10)
    assert await call(backend, service(server.url), get()) == {}
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_an_adapter_makes_its_requests_by_the_same_rules(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    server.always = json_reply({"date_last_updated": "09/23/2025"})
    spec = spec_of(service(server.url, slug="nsip"), adapter="nsip_get_last_update")
    result = await backend.call(spec, {}, context())
    assert isinstance(result, BackendResult)
    assert [asked.method for asked in server.asked] == ["GET"]


async def test_a_tool_without_an_operation_says_who_can_help(backend: HttpApiBackend) -> None:
    for binding in (spec_of(service("http://127.0.0.1")), spec_of(service(""), adapter="unknown")):
        with pytest.raises(ServiceUnavailable):
            await backend.call(binding, {}, context())


async def test_a_backend_serves_one_event_loop_after_another(server: HttpServer) -> None:
    backend = HttpApiBackend()

    async def visit() -> object:
        try:
            return await call(backend, service(server.url), get())
        finally:
            await backend.close()

    assert await visit() == {}
    assert await asyncio.to_thread(lambda: asyncio.run(visit())) == {}
    assert await visit() == {}
