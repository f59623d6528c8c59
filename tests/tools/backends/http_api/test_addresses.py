"""Where the backend connects to, whatever a name or a redirect says."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.http_server import HttpServer, Reply, http_server, json_reply
from tests.tools.backends.http_api.calls import call, get, service
from tests.tools.backends.http_api.certificates import certified
from tools.backends.http_api import HttpApiBackend
from tools.backends.http_api.addresses import is_allowed, read_networks
from tools.errors import ExecutionFailed, TransportFault

FORBIDDEN = [
    "0.0.0.0",  # noqa: S104 - an address to refuse
    "127.0.0.1", "127.255.0.3", "10.0.0.1", "172.16.5.5", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "198.18.0.1", "224.0.0.1",
    "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.88.99.1", "192.0.2.1",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1",
    "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1",
    "2001:0:7f00:1::", "2001:2::1", "3fff::1", "4000::1", "no address", "",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_addresses_that_only_this_machine_can_reach_are_refused(address: str) -> None:
    assert not is_allowed(address, ())


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(address, ())


def test_allowed_networks_open_exactly_themselves() -> None:
    allowed = read_networks(("10.1.0.0/16", "fd12::/16"))
    assert is_allowed("10.1.2.3", allowed)
    assert is_allowed("::ffff:10.1.2.3", allowed)
    assert is_allowed("fd12::5", allowed)
    assert not is_allowed("10.2.0.1", allowed)
    assert not is_allowed("169.254.169.254", allowed)
    assert not is_allowed("fd13::5", allowed)


async def test_a_private_address_is_not_called_unless_the_service_allows_it(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    with pytest.raises(ExecutionFailed, match="may not be called") as told:
        await call(backend, service(server.url, allowed_networks=()), get())
    assert not told.value.retryable
    assert server.connections == 0
    assert await call(backend, service(server.url), get()) == {}


@pytest.mark.parametrize(
    "host", ["localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]"]
)  # fmt: skip
async def test_no_way_of_writing_this_machine_is_called(
    backend: HttpApiBackend, server: HttpServer, host: str
) -> None:
    address = f"http://{host}:{server.port}"
    with pytest.raises((ExecutionFailed, TransportFault)):
        await call(backend, service(address, allowed_networks=(), retries=0), get())
    assert server.connections == 0


async def test_a_kept_connection_is_not_used_once_its_network_is_no_longer_allowed(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    assert await call(backend, service(server.url), get()) == {}
    with pytest.raises(ExecutionFailed, match="may not be called"):
        await call(backend, service(server.url, allowed_networks=("10.0.0.0/8",)), get())
    assert len(server.asked) == 1


async def test_a_connection_of_one_service_is_not_used_by_another(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    assert await call(backend, service(server.url), get()) == {}
    other = service(server.url, slug="other", allowed_networks=())
    with pytest.raises(ExecutionFailed, match="may not be called"):
        await call(backend, other, get())
    assert len(server.asked) == 1


class Rebinding:
    """Answers for a name with another address each time it is asked."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def test_a_name_is_looked_up_once_and_the_checked_address_is_connected_to(
    server: HttpServer,
) -> None:
    # The second look-up, if there were one, would lead to a place without a server.
    resolve = Rebinding(["127.0.0.1"], ["127.0.0.66"])
    backend = HttpApiBackend(resolve=resolve)
    api = service(f"http://api.example.com:{server.port}")
    assert await call(backend, api, get()) == {}
    assert resolve.asked == 1
    assert server.asked[0].header("host") == f"api.example.com:{server.port}"
    await backend.close()


async def test_a_name_that_moves_to_a_private_address_is_refused(server: HttpServer) -> None:
    backend = HttpApiBackend(resolve=Rebinding(["127.0.0.1"]))
    api = service(f"http://api.example.com:{server.port}", allowed_networks=())
    with pytest.raises(ExecutionFailed, match="may not be called"):
        await call(backend, api, get())
    assert server.connections == 0
    await backend.close()


async def test_of_many_addresses_only_the_allowed_ones_are_tried(server: HttpServer) -> None:
    backend = HttpApiBackend(resolve=Rebinding(["10.9.9.9", "::1", "127.0.0.1"]))
    assert await call(backend, service(f"http://api.example.com:{server.port}"), get()) == {}
    await backend.close()


async def test_an_unknown_name_cannot_be_reached(server: HttpServer) -> None:
    backend = HttpApiBackend(resolve=Rebinding([]))
    with pytest.raises(TransportFault, match="its name is not known"):
        await call(backend, service("http://nowhere.example", retries=0), get())
    await backend.close()


async def test_the_proxies_of_the_environment_are_not_used(
    backend: HttpApiBackend, server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert await call(backend, service(server.url), get()) == {}


async def test_tls_is_checked_against_the_name_though_an_address_is_connected_to(
    tmp_path: Path,
) -> None:
    serving, trusting = certified(tmp_path, "api.example.com")
    resolve = Rebinding(["127.0.0.1"])
    backend = HttpApiBackend(resolve=resolve, certificates=lambda: trusting)
    with http_server(tls=serving, always=json_reply({"safe": True})) as server:
        api = service(f"https://api.example.com:{server.port}", retries=0)
        assert await call(backend, api, get()) == {"safe": True}
        other = service(f"https://other.example.com:{server.port}", retries=2)
        with pytest.raises(TransportFault, match="does not prove"):
            await call(backend, other, get())
        assert len(server.asked) == 1
        await backend.close()


async def test_networks_that_are_none_are_the_operators_to_correct(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    with pytest.raises(ExecutionFailed, match="no network"):
        await call(backend, service(server.url, allowed_networks=("here",)), get())


async def test_a_call_under_way_is_finished_though_the_networks_change(
    backend: HttpApiBackend, server: HttpServer
) -> None:
    go_on = threading.Event()

    def pieces() -> Iterator[bytes]:
        go_on.wait(10)
        yield b'{"finished": true}'

    server.behave(Reply(pieces=pieces))
    early = asyncio.create_task(call(backend, service(server.url), get()))
    assert await asyncio.to_thread(server.under_way.wait, 10)
    wider = service(server.url, allowed_networks=("127.0.0.0/8",))
    assert await call(backend, wider, get()) == {}
    go_on.set()
    assert await early == {"finished": True}
    assert server.connections == 2
