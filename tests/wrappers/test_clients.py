"""The clients of Python and TypeScript: types, retries by code, and what goes over the wire."""

from __future__ import annotations

import asyncio
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.http_server import Reply, http_server
from tests.node_env import NODE, node_environment, typescript_compiler
from tests.tools.backends.http_api.certificates import certified
from tests.wrappers.dripping import STAGES, dripping
from tests.wrappers.foreign import Foreign, succeeded
from tests.wrappers.plane import Plane
from tests.wrappers.retrying import CASES, Case
from tests.wrappers.running import PROGRAM, environment, run, run_typescript
from tests.wrappers.test_live import CODES

STRICT = ("--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_calls_are_made_again_as_their_code_allows(module: Any, case: Case) -> None:
    # F3-32
    left, waits, times = list(case.answers), [], []

    def transport(request: Any, timeout: float) -> Any:
        times.append(timeout)
        status, body, headers = left.pop(0)
        named = {name.lower(): value for name, value in headers.items()}
        return module.Answer(status, named, json.dumps(body).encode())

    async def async_transport(request: Any, timeout: float) -> Any:
        return transport(request, timeout)

    async def async_sleep(seconds: float) -> None:
        waits.append(seconds)

    client = module.SeekrClient(transport=transport, sleep=waits.append, timeout=10.0)
    waiting = module.AsyncSeekrClient(transport=async_transport, sleep=async_sleep, timeout=10.0)
    for call in (client.look, lambda: asyncio.run(waiting.look())):
        left[:], waits[:], times[:] = case.answers, [], []
        if case.code:
            with pytest.raises(module.SeekrError) as raised:
                call()
            assert raised.value.code == case.code
        else:
            assert call() == {"done": True}
        assert (tuple(waits), left) == (case.waits, [])
        # After a timeout, with more time.
        assert times[-1] == (40.0 if case.code == "TIMEOUT" else 10.0)


def test_without_retries_a_call_is_made_once(module: Any, service: Foreign) -> None:
    service.calls.clear()
    service.replies.append(
        (500, {}, b'{"success": false, "error": "No", "code": "EXECUTION_ERROR"}')
    )
    with pytest.raises(module.SeekrError):
        module.SeekrClient(retry=False).look()
    assert len(service.calls) == 1


def test_nobody_there_and_nobody_answering_are_told_apart(module: Any, service: Foreign) -> None:
    waits: list[float] = []
    nobody = module.SeekrClient("http://127.0.0.1:9", sleep=waits.append)
    with pytest.raises(module.SeekrError, match="SERVICE_UNAVAILABLE"):
        nobody.look()
    assert waits == [1, 2, 4]
    for address in ("ftp://127.0.0.1", "127.0.0.1:8000", "http://"):
        with pytest.raises(module.SeekrError):
            module.SeekrClient(address, retry=False).look()
        with pytest.raises(module.SeekrError):
            asyncio.run(module.AsyncSeekrClient(address, retry=False).look())


def test_a_service_that_says_nothing_is_left_after_the_timeout(module: Any) -> None:
    folder = Path(module.__file__).parents[1]
    with http_server(always=Reply(hang=True)) as silent:
        client = module.SeekrClient(silent.url, timeout=0.2, retry=False)
        with pytest.raises(module.SeekrError, match="TIMEOUT"):
            client.look()
        waiting = module.AsyncSeekrClient(silent.url, timeout=0.2, retry=False)
        with pytest.raises(module.SeekrError, match="TIMEOUT"):
            asyncio.run(waiting.look())
        for path in ("scripts/look.sh", "cli/look.py"):
            done = run([folder / path, "--timeout=0.2", f"--service-url={silent.url}"])
            assert done.returncode == 1
            assert done.stderr == "Error: [TIMEOUT] no answer within 0.2 s\n"


# A name server that does not answer, as programs see it: the look-up takes longer than any test.
NO_NAMES = """
import socket
import threading

socket.getaddrinfo = lambda *names, **more: threading.Event().wait(20)
"""
CALLS = {
    "sync": "SeekrClient('http://seekr.test', timeout=0.2, retry=False).look()",
    "async": "asyncio.run(AsyncSeekrClient('http://seekr.test', timeout=0.2, retry=False).look())",
}


@pytest.mark.parametrize("way", CALLS)
def test_a_name_that_is_not_found_out_is_left_after_the_timeout(
    module: Any, tmp_path: Path, way: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_NAMES)
    program = tmp_path / "program.py"
    program.write_text(
        f"import asyncio\nfrom seekr_client import *\n"
        f"try:\n    {CALLS[way]}\nexcept SeekrError as failure:\n    print(failure)\n"
    )
    places = f"{tmp_path}:{Path(module.__file__).parent}"
    done = run([program], PYTHONPATH=places)
    assert (done.stdout, done.stderr) == ("[TIMEOUT] no answer within 0.2 s\n", "")


def test_a_command_line_leaves_a_name_that_is_not_found_out(module: Any, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_NAMES)
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    done = run([cli, "--timeout=0.2", "--service-url=http://seekr.test"], PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "Error: [TIMEOUT] no answer within 0.2 s\n")


@pytest.mark.parametrize("stage", STAGES)
def test_a_service_that_answers_drop_by_drop_is_left_after_the_timeout(
    module: Any, stage: str
) -> None:
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    with dripping(stage) as url:
        settings = {"timeout": 0.5, "retry": False}
        for call in (
            module.SeekrClient(url, **settings).look,
            lambda: asyncio.run(module.AsyncSeekrClient(url, **settings).look()),
        ):
            with pytest.raises(module.SeekrError, match=r"no answer within 0\.5 s") as raised:
                call()
            assert raised.value.code == "TIMEOUT"
        done = run([cli, "--timeout=0.5", f"--service-url={url}"])
        assert (done.returncode, done.stderr) == (1, "Error: [TIMEOUT] no answer within 0.5 s\n")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"[" * 200_000),
        (200, b'{"success": true, "data": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        (400, b'{"a":' * 200_000),
        (200, b"\xff\xfe{"),
    ],
    ids=["open", "deep", "refused", "no text"],
)
def test_an_answer_that_cannot_be_read_is_told(module: Any, status: int, body: bytes) -> None:
    folder = Path(module.__file__).parents[1]
    told = f"the service answered with status {status} and no envelope"
    with http_server(always=Reply(status, body)) as odd:
        with pytest.raises(module.SeekrError, match=told):
            module.SeekrClient(odd.url).look()
        with pytest.raises(module.SeekrError, match=told):
            asyncio.run(module.AsyncSeekrClient(odd.url).look())
        for path in ("scripts/look.sh", "cli/look.py"):
            done = run([folder / path, f"--service-url={odd.url}"])
            assert (done.returncode, done.stdout) == (1, "")
            assert (told in done.stderr, done.stderr.count("\n")) == (True, 1)


@pytest.mark.parametrize("depth", [300, 1_500])
def test_a_command_line_writes_a_nested_answer_or_tells_why_not(module: Any, depth: int) -> None:
    # What can be read and what can be written differ between versions of Python.
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    nested = b"[" * depth + b"]" * depth
    good = b'{"success": true, "data": ' + nested + b"}"
    bad = b'{"success": false, "error": "No.", "meta": {"details": {"a": ' + nested + b"}}}"
    with http_server(always=Reply(200, good)) as deep:
        done = run([cli, f"--service-url={deep.url}"])
        assert done.stdout.count("[") == depth or done.stderr.startswith("Error: [INTERNAL_ERROR]")
        deep.always = Reply(500, bad)
        failed = run([cli, "--json", f"--service-url={deep.url}"])
        assert json.loads(failed.stdout)["code"] == "INTERNAL_ERROR"
    assert "Traceback" not in done.stderr + failed.stderr


def test_the_python_clients_call_over_tls(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"success": True, "data": {"safe": True}}).encode()
    serving, _ = certified(tmp_path, "localhost")
    with http_server(tls=serving, always=Reply(200, body)) as server:
        url = f"https://localhost:{server.port}"
        with pytest.raises(module.SeekrError, match="CERTIFICATE_VERIFY_FAILED"):
            module.SeekrClient(url, retry=False).look()
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert module.SeekrClient(url).look() == {"safe": True}
        assert asyncio.run(module.AsyncSeekrClient(url).look()) == {"safe": True}
        server.always = Reply(stall=True, pieces=lambda: iter([b"{", b"}"]))
        with pytest.raises(module.SeekrError, match="TIMEOUT"):
            module.SeekrClient(url, timeout=0.5, retry=False).look()


def test_the_async_client_reads_what_http_may_send(module: Any, service: Foreign) -> None:
    client = module.AsyncSeekrClient()
    status, _, body = succeeded({"answer": "ü" * 10_000})
    service.replies.append((status, {"Transfer-Encoding": "chunked"}, body))
    assert asyncio.run(client.look()) == {"answer": "ü" * 10_000}
    assert asyncio.run(client.look(word="Grüße 😀"))["echo"] == {"word": "Grüße 😀"}


def test_the_key_is_read_when_the_client_is_made(
    module: Any, service: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.keys.clear()
    module.SeekrClient().look()
    monkeypatch.setenv("CONTROL_PLANE_KEY", "from-environment")
    module.SeekrClient().look()
    module.SeekrClient(api_key="given").look()
    asyncio.run(module.AsyncSeekrClient().look())
    assert service.keys == [None, "from-environment", "given", "from-environment"]
    for key in ("a\r\nX-Evil: 1", "schlüssel"):
        with pytest.raises(module.SeekrError, match="no key has"):
            module.SeekrClient(api_key=key).look()


def test_a_command_line_tries_again_when_told_to(module: Any, service: Foreign) -> None:
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    limited = (
        429,
        {"Retry-After": "0"},
        b'{"success": false, "error": "No", "code": "RATE_LIMITED"}',
    )
    service.replies += [limited, limited, limited]
    assert run([cli]).returncode == 1
    assert json.loads(run([cli, "--retry", "--word", "x"]).stdout)["echo"] == {"word": "x"}


def test_a_failure_keeps_the_whole_answer(module: Any, service: Foreign) -> None:
    # F3-20
    folder = Path(module.__file__).parents[1]
    told = {
        "success": False,
        "error": "Too many calls.",
        "code": "RATE_LIMITED",
        "request_id": "7",
        "timestamp": "2025-11-30T10:00:00.000Z",
        "meta": {"duration_ms": 3, "details": {"retry_after": 0, "limit": 5}, "more": [None, "ü"]},
        "unheard_of": {"a": 1.5},
    }
    service.replies[:] = [(429, {}, json.dumps(told).encode())] * 5
    for path in ("scripts/look.sh", "cli/look.py"):
        done = run([folder / path, "--json"], LANG="C.UTF-8")
        assert (done.returncode, json.loads(done.stdout)) == (1, told)
        assert done.stderr.startswith("Error: [RATE_LIMITED] Too many calls.")
    client, waiting = module.SeekrClient(retry=False), module.AsyncSeekrClient(retry=False)
    for call in (client.look, lambda: asyncio.run(waiting.look())):
        with pytest.raises(module.SeekrError) as raised:
            call()
        assert raised.value.envelope == told
    seen, _ = run_typescript(
        folder / "typescript" / "seekr_client.ts", "Seekr", codes={"all": ("look", {})}
    )
    assert seen["codes"]["all"]["envelope"] == told
    assert service.replies == []


# What a status means where the answer does not say it: a page of a gateway, or half an envelope.
BY_STATUS = {
    200: "INTERNAL_ERROR",
    302: "INTERNAL_ERROR",
    400: "INVALID_ARGUMENTS",
    404: "TOOL_NOT_FOUND",
    413: "INVALID_ARGUMENTS",
    429: "RATE_LIMITED",
    500: "INTERNAL_ERROR",
    502: "SERVICE_UNAVAILABLE",
    503: "SERVICE_UNAVAILABLE",
    504: "TIMEOUT",
}


@pytest.mark.parametrize("body", [b"<html>", b'{"success": false}'], ids=["page", "half"])
def test_an_answer_without_a_code_has_that_of_its_status(
    module: Any, service: Foreign, body: bytes
) -> None:
    # F3-16 F3-20
    folder = Path(module.__file__).parents[1]
    client, waiting = module.SeekrClient(retry=False), module.AsyncSeekrClient(retry=False)
    for status, code in BY_STATUS.items():
        service.replies[:] = [(status, {}, body)] * 5
        for path in ("scripts/look.sh", "cli/look.py"):
            done = run([folder / path])
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr.startswith(f"Error: [{code}] the ")
        for call in (client.look, lambda: asyncio.run(waiting.look())):
            with pytest.raises(module.SeekrError) as raised:
                call()
            assert (raised.value.code, raised.value.status) == (code, status)
        file = folder / "typescript" / "seekr_client.ts"
        seen, _ = run_typescript(file, "Seekr", codes={"it": ("look", {})})
        assert seen["codes"]["it"]["code"] == code
        assert service.replies == []


def test_a_command_line_writes_an_envelope_where_none_came(module: Any, service: Foreign) -> None:
    # F3-20
    cli = Path(module.__file__).parents[1] / "cli" / "look.py"
    service.replies.append((502, {}, b"<html>"))
    done = run([cli, "--json"])
    assert json.loads(done.stdout) == {
        "success": False,
        "code": "SERVICE_UNAVAILABLE",
        "error": "the service answered with status 502 and no envelope",
        "request_id": "",
        "meta": {"details": {}},
    }
    with pytest.raises(module.SeekrError) as raised:
        module.SeekrClient("http://127.0.0.1:9", retry=False).look()
    assert raised.value.envelope == {}


def test_a_failure_reaches_another_process_whole(module: Any, service: Foreign) -> None:
    # F3-20: a pool of processes, or a task queue, writes it down and makes it again.
    body = {"success": False, "error": "No.", "code": "RATE_LIMITED", "request_id": "7"}
    service.replies[:] = [(429, {"Retry-After": "3"}, json.dumps(body).encode())]
    with pytest.raises(module.SeekrError) as raised:
        module.SeekrClient(retry=False).look()
    there = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - our own
    assert str(there) == str(raised.value) == "[RATE_LIMITED] No."
    assert vars(there) == vars(raised.value)
    assert (there.status, there.retry_after, there.envelope) == (429, 3, body)


def test_scripts_say_which_program_they_lack(module: Any, tmp_path: Path) -> None:
    script = Path(module.__file__).parents[1] / "scripts" / "look.sh"
    for name in ("bash", "env", "curl", "od", "tr", "head"):
        found = next(
            Path(folder) / name
            for folder in environment()["PATH"].split(":")
            if (Path(folder) / name).exists()
        )
        (tmp_path / name).symlink_to(found)
    done = run([tmp_path / "bash", script], PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "this script needs jq. Install it (Debian: apt-get install jq" in done.stderr
    assert run([tmp_path / "bash", script, "--help"], PATH=str(tmp_path)).returncode == 0


def test_a_typescript_client_tries_once_what_cannot_work(module: Any) -> None:
    # F3-20
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    moved = Reply(302, headers={"Location": "/elsewhere"})
    stalled = Reply(stall=True, pieces=lambda: iter([b'{"success"', b": true}"]))
    nested = Reply(200, b"[" * 200_000)
    with (
        http_server(always=moved) as elsewhere,
        http_server(always=stalled) as slow,
        http_server(always=nested) as deep,
    ):
        refused = {
            "deep": {"baseUrl": deep.url},
            "key": {"baseUrl": elsewhere.url, "apiKey": "secret\n"},
            "letter": {"baseUrl": elsewhere.url, "apiKey": "secret-ü"},
            "scheme": {"baseUrl": "ftp://127.0.0.1"},
            "nonsense": {"baseUrl": "nowhere"},
            "password": {"baseUrl": "http://me:secret@127.0.0.1:9"},
            "timeout": {"baseUrl": elsewhere.url, "timeout": -1},
            "long": {"baseUrl": elsewhere.url, "timeout": 1_000_001},
            "word": {"baseUrl": elsewhere.url, "timeout": "5"},
            "moved": {"baseUrl": elsewhere.url},
            "stalled": {"baseUrl": slow.url, "timeout": 0.2015, "retry": False},
        }
        orders = json.dumps({"calls": {}, "codes": {}, "retries": {}, "refused": refused})
        called = subprocess.run(
            [str(NODE), str(PROGRAM), str(file), "Seekr", orders],
            env=dict(node_environment()),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert called.returncode == 0, called.stderr
        assert [one.path for one in elsewhere.asked] == ["/call-tool"]
    seen = json.loads(called.stdout)["refused"]
    assert {label: one["waits"] for label, one in seen.items()} == {one: [] for one in refused}
    codes = dict.fromkeys(refused, "INVALID_ARGUMENTS")
    codes |= {"moved": "INTERNAL_ERROR", "deep": "INTERNAL_ERROR", "stalled": "TIMEOUT"}
    assert {label: one["code"] for label, one in seen.items()} == codes
    assert "secret" not in called.stdout


def test_a_typescript_client_calls_where_nothing_makes_ids(module: Any, service: Foreign) -> None:
    # Programs of Node 18 know no crypto, nor do pages that came without HTTPS.
    file = Path(module.__file__).parents[1] / "typescript" / "seekr_client.ts"
    orders = json.dumps({"calls": {"look": {"word": "x"}}, "codes": {}, "retries": {}})
    bare = "data:text/javascript,delete globalThis.crypto"
    service.calls.clear()
    called = subprocess.run(
        [str(NODE), "--import", bare, str(PROGRAM), str(file), "Seekr", orders],
        env=dict(node_environment()),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert called.returncode == 0, called.stderr
    assert service.calls == [{"tool": "look", "arguments": {"word": "x"}}]


def test_clients_of_the_demo_pass_strict_checking(plane: Plane) -> None:
    # F3-17
    checked = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file="),
            *("--cache-dir", str(plane.output.parent / "types")),
            str(plane.made / "python" / "control_plane_client.py"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def test_a_typescript_client_calls_every_demo_tool(plane: Plane) -> None:
    # F3-20 S3-065
    file = plane.made / "typescript" / "control_plane_client.ts"
    orders = json.dumps({"calls": plane.calls(), "codes": CODES, "retries": {}})
    commands = (
        [str(typescript_compiler()), *STRICT, "--module", "nodenext", str(file)],
        [str(PROGRAM), str(file), "ControlPlane", orders],
    )
    checked, called = (
        subprocess.run(
            [str(NODE), *command],
            env=dict(node_environment()),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        for command in commands
    )
    assert checked.returncode == 0, checked.stdout
    assert called.returncode == 0, called.stderr
    seen = json.loads(called.stdout)
    assert {name: one for name, one in seen["calls"].items() if "data" not in one} == {}
    assert {code: one["code"] for code, one in seen["codes"].items()} == {
        code: code for code in CODES
    }
