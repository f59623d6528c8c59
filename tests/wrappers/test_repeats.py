"""Which calls generated clients make again, and which they never do: those that may have run."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import socketserver
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from typing_extensions import override

from tests.http_server import Reply, http_server
from tests.processes import wait_until
from tests.wrappers.foreign import Foreign
from tests.wrappers.retrying import CASES, Case
from tests.wrappers.running import run, run_typescript

# Pauses are told instead of waited for.
PAUSES: Final = """
import sys
import time

time.sleep = lambda seconds: print(f"wait {seconds:g}", file=sys.stderr)
"""
# What a name stands for, as a machine sees it that knows no such family of addresses.
FAMILIES: Final = """
import socket

known = socket.getaddrinfo
unknown = (99, socket.SOCK_STREAM, 6, "")


def found(host, port, *names, **more):
    return [(*unknown, ("::1", port, 0, 0)), *known(host, port, *names, **more)]


socket.getaddrinfo = found
"""


def quietly(folder: Path) -> str:
    """Where Python finds what makes a command line tell its pauses."""
    (folder / "sitecustomize.py").write_text(PAUSES)
    return str(folder)


def _sync(module: Any, url: str, timeout: float, _: Path) -> str:
    client = module.SeekrClient(url, timeout=timeout, sleep=lambda seconds: None)
    with pytest.raises(module.SeekrError) as raised:
        client.look()
    return str(raised.value)


def _async(module: Any, url: str, timeout: float, _: Path) -> str:
    async def sleep(seconds: float) -> None:
        """Go on."""

    client = module.AsyncSeekrClient(url, timeout=timeout, sleep=sleep)
    with pytest.raises(module.SeekrError) as raised:
        asyncio.run(client.look())
    return str(raised.value)


def _cli(module: Any, url: str, timeout: float, folder: Path) -> str:
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    order: list[str | Path] = [cli, "--retry", f"--service-url={url}", f"--timeout={timeout}"]
    return run(order, PYTHONPATH=quietly(folder)).stderr


def _typescript(module: Any, url: str, timeout: float, _: Path) -> str:
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    seen, _done = run_typescript(
        file, "Seekr", refused={"it": {"baseUrl": url, "timeout": timeout}}
    )
    return str(seen["refused"]["it"]["message"])


WAYS: Final[dict[str, Callable[[Any, str, float, Path], str]]] = {
    "sync": _sync,
    "async": _async,
    "cli": _cli,
    "typescript": _typescript,
}
# What a service may do with a request that it has read.
ENDS: Final = {
    "closed": Reply(drop=True),
    "cut": Reply(short=True),
    "no HTTP": Reply(raw=b"nonsense\r\n\r\n"),
    "silent": Reply(hang=True),
    "gateway": Reply(502, b"<html>"),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_may_have_run_is_not_made_again(
    module: Any, tmp_path: Path, way: str, end: str
) -> None:
    # F3-32
    with http_server(always=ENDS[end]) as server:
        told = WAYS[way](module, server.url, 0.5 if end == "silent" else 20, tmp_path)
        wait_until(lambda: bool(server.asked), what="the request")
        assert [one.path for one in server.asked] == ["/call-tool"]
    assert ("[TIMEOUT]" if end == "silent" else "[SERVICE_UNAVAILABLE]") in told
    assert ("may have run" in told) is (end not in {"silent", "gateway"})


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address that takes no connections, and is nobody else's meanwhile."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{kept.getsockname()[1]}"


def test_a_call_that_could_not_be_sent_is_made_again(module: Any, nobody: str) -> None:
    # F3-32
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    waiting = module.AsyncSeekrClient(nobody, sleep=sleep)
    for call in (
        module.SeekrClient(nobody, sleep=waits.append).look,
        lambda: asyncio.run(waiting.look()),
    ):
        with pytest.raises(module.SeekrError, match="cannot be reached") as raised:
            call()
        assert raised.value.unsent
    assert waits == [1, 2, 4] * 2


def test_other_clients_too_make_a_call_again_that_could_not_be_sent(
    module: Any, nobody: str, tmp_path: Path
) -> None:
    # F3-32
    told = _cli(module, nobody, 5, tmp_path)
    assert told.splitlines()[:3] == ["wait 1", "wait 2", "wait 4"]
    assert "cannot be reached" in told
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    seen, _ = run_typescript(file, "Seekr", refused={"it": {"baseUrl": nobody}})
    assert "cannot be reached" in seen["refused"]["it"]["message"]
    assert seen["refused"]["it"]["waits"] == [1, 2, 4]


@pytest.mark.parametrize("way", ["sync", "async", "cli"])
def test_a_handshake_without_an_end_is_tried_again_with_more_time(
    module: Any, tmp_path: Path, way: str
) -> None:
    # F3-32: it takes connections and says nothing, so no request can be sent.
    with socket.create_server(("127.0.0.1", 0), backlog=20) as mute:
        url = f"https://127.0.0.1:{mute.getsockname()[1]}"
        assert "no answer within 0.8 s" in WAYS[way](module, url, 0.2, tmp_path)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_command_line_makes_calls_again_as_their_code_allows(
    module: Any, service: Foreign, tmp_path: Path, case: Case
) -> None:
    # F3-32
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    service.calls.clear()
    service.replies[:] = [
        (status, headers, json.dumps(body).encode()) for status, body, headers in case.answers
    ]
    done = run([cli, "--retry"], PYTHONPATH=quietly(tmp_path))
    waits = [f"wait {seconds:g}" for seconds in case.waits]
    *paused, ended = done.stderr.splitlines() if case.code else [*done.stderr.splitlines(), ""]
    assert (paused, len(service.calls), service.replies) == (waits, len(case.answers), [])
    if case.code:
        assert (done.returncode, ended.startswith(f"Error: [{case.code}] ")) == (1, True)
    else:
        assert (done.returncode, json.loads(done.stdout)) == (0, {"done": True})


def test_a_command_line_gives_a_call_more_time_after_a_timeout(module: Any, tmp_path: Path) -> None:
    # F3-32
    late = Reply(504, b'{"success": false, "error": "Late.", "code": "TIMEOUT"}')
    with http_server(always=Reply(hang=True)) as server:
        server.behave(late, late)
        assert "[TIMEOUT] no answer within 4 s" in _cli(module, server.url, 1, tmp_path)
        assert len(server.asked) == 3


def test_a_typescript_client_makes_calls_again_as_their_code_allows(module: Any) -> None:
    # F3-32
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    answers = {label: case.answers for label, case in CASES.items()}
    seen, _ = run_typescript(file, "Seekr", retries=answers)
    for label, case in CASES.items():
        found = seen["retries"][label]
        assert (tuple(found["waits"]), found.get("code", "")) == (case.waits, case.code), label
        # After a timeout, with more time.
        times = [10, 20, 40] if case.code == "TIMEOUT" else [10] * len(case.answers)
        assert found["timeouts"] == times, label


class _Refusing(socketserver.BaseRequestHandler):
    """Answers when it has seen the headers, and leaves without reading the body."""

    BODY = b'{"success": false, "error": "Too large.", "code": "INVALID_ARGUMENTS"}'

    @override
    def handle(self) -> None:
        got = b""
        while b"\r\n\r\n" not in got:
            got += self.request.recv(4096)
        head = f"HTTP/1.1 413 Too Large\r\nContent-Length: {len(self.BODY)}\r\n\r\n"
        self.request.sendall(head.encode() + self.BODY)


def test_a_refusal_that_comes_before_the_whole_call_is_sent_is_told(module: Any) -> None:
    # F3-20: what was not read cannot have run.
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Refusing) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        client = module.SeekrClient(f"http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(module.SeekrError) as raised:
            client.look(word="x" * 20_000_000)
        assert (raised.value.code, raised.value.status) == ("INVALID_ARGUMENTS", 413)
        server.shutdown()


class _Idle(_Refusing):
    """The same, but it stays, and still reads nothing."""

    over = threading.Event()

    @override
    def handle(self) -> None:
        super().handle()
        self.over.wait(60)


def test_an_async_client_leaves_nothing_open_behind_a_call_that_nobody_read(module: Any) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Idle) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        client = module.AsyncSeekrClient(f"http://127.0.0.1:{server.server_address[1]}")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with pytest.raises(module.SeekrError, match="Too large"):
                asyncio.run(client.look(word="x" * 20_000_000))
            gc.collect()
        _Idle.over.set()
        server.shutdown()
    assert [str(one.message) for one in told] == []


CALLS: Final = {
    "sync": "SeekrClient(retry=False).look()",
    "async": "asyncio.run(AsyncSeekrClient(retry=False).look())",
}


@pytest.mark.parametrize("way", [*CALLS, "cli"])
def test_an_address_of_a_family_that_the_machine_lacks_is_passed_over(
    module: Any, tmp_path: Path, way: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(FAMILIES)
    program = tmp_path / "program.py"
    if way == "cli":
        program = Path(module.__file__).parents[1] / "cli" / "look.py"
    else:
        program.write_text(
            f"import asyncio\nimport json\nfrom seekr_client import *\nprint(json.dumps({CALLS[way]}))\n"
        )
    done = run([program], PYTHONPATH=f"{tmp_path}:{Path(module.__file__).parent}")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"echo": {}, "tool": "look"}


@pytest.mark.parametrize(
    "timeout", [float("inf"), float("nan"), None, 0, -1, 1_000_001, 10**400, "5"], ids=repr
)
def test_a_timeout_that_is_none_is_told_by_its_name_and_range(module: Any, timeout: Any) -> None:
    told = "timeout must be a number of seconds, more than 0 and at most 1000000$"
    request = module.Request("http://127.0.0.1:9/call-tool", {}, b"{}")
    calls: tuple[Callable[[], object], ...] = (
        lambda: module.SeekrClient(timeout=timeout),
        lambda: module.AsyncSeekrClient(timeout=timeout),
        lambda: module.send(request, timeout),
        lambda: asyncio.run(module.send_async(request, timeout)),
    )
    for call in calls:
        with pytest.raises(ValueError, match=told):
            call()
