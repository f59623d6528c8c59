"""Streamable HTTP: what statuses, redirects and refusals mean."""

from __future__ import annotations

import pytest

from tests.tools.backends.upstream.raw_http import (
    Asked,
    error,
    reply,
    result,
    serving,
)
from tests.tools.backends.upstream.transports.http_answers import MEGABYTE, answered, fine
from tests.tools.backends.upstream.transports.talk import ask, asked, at, opened
from tools.backends.upstream.channel import (
    ChannelFault,
    Refused,
)
from tools.vault import seal


@pytest.mark.parametrize("status", [200, 400, 404])
async def test_an_error_of_the_protocol_is_an_answer_whatever_its_status(status: int) -> None:
    found = await answered(lambda one: reply(error(one, -32601, "unknown"), status))
    assert found["error"] == {"code": -32601, "message": "unknown"}
    assert found["id"] == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405, 429, 500, 502, 503])
async def test_a_status_that_declines_is_told_with_its_number(status: int) -> None:
    with pytest.raises(Refused, match=f"answered with status {status}") as told:
        await answered(lambda one: reply(b"<html>no</html>", status, "text/html"))
    assert told.value.status == status


@pytest.mark.parametrize("status", [401, 403, 500])
async def test_refusals_of_callers_and_faults_of_servers_are_no_answers(status: int) -> None:
    words = "no, api_key=sk-0123456789abcdef0123456789abcdef is wrong"
    with pytest.raises(Refused) as told:
        await answered(lambda one: reply(error(one, -32000, words), status))
    assert told.value.status == status
    assert "sk-0123456789abcdef" not in str(told.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    async with serving(fine) as other:

        def elsewhere(request: Asked) -> bytes:
            return reply(b"", status, Location=f"{other.url}?key=hunter2")

        with pytest.raises(Refused, match="which is not followed") as told:
            await answered(elsewhere, headers=seal('{"Authorization": "Bearer hunter2"}'))
        assert other.asked == []
    assert told.value.status == status
    assert "hunter2" not in str(told.value)


async def test_a_large_refusal_that_nobody_reads_does_not_stop_the_next_exchange() -> None:
    def answer(request: Asked) -> bytes:
        if request.message["id"] == 1:
            return reply(MEGABYTE * 3, 302, Location="/elsewhere")
        return reply(result(request, ok=True))

    async with serving(answer) as server, opened(at(server.url)) as channel:
        with pytest.raises(Refused):
            await asked(channel, ask(1))
        assert (await asked(channel, ask(2)))["result"] == {"ok": True}


async def test_a_server_that_wants_to_speak_another_protocol_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello"
    with pytest.raises(ChannelFault) as told:
        await answered(lambda one: upgrade)
    assert told.value.sent
    assert "Fatal error" not in caplog.text
