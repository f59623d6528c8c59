"""The clients of Python and TypeScript: types, retries by code, and what goes over the wire."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http_server import Reply, http_server
from tests.node_env import NODE, node_environment, typescript_compiler
from tests.wrappers.foreign import Foreign, foreign, succeeded, tool
from tests.wrappers.generating import generate
from tests.wrappers.plane import Plane
from tests.wrappers.retrying import CASES, Case
from tests.wrappers.running import environment, load, run
from tests.wrappers.test_live import CODES
from tools.wrappers.registry import ServiceEntry

PROGRAM = Path(__file__).resolve().parent / "programs.mjs"
STRICT = ("--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom")


@pytest.fixture(scope="module")
def service() -> Iterator[Foreign]:
    with foreign([tool("look", "Looks.", word={"type": "string"})]) as made:
        yield made


@pytest.fixture(scope="module")
def module(service: Foreign, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("clients")
    entry = ServiceEntry("seekr", f"{service.url}/", key_variable="CONTROL_PLANE_KEY")
    assert generate(folder, entry, types="python,cli,bash,typescript").errors == []
    return load(folder / "seekr" / "python" / "seekr_client.py")


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
    with http_server(always=moved) as elsewhere, http_server(always=stalled) as slow:
        refused = {
            "key": {"baseUrl": elsewhere.url, "apiKey": "secret\n"},
            "letter": {"baseUrl": elsewhere.url, "apiKey": "secret-ü"},
            "scheme": {"baseUrl": "ftp://127.0.0.1"},
            "nonsense": {"baseUrl": "nowhere"},
            "password": {"baseUrl": "http://me:secret@127.0.0.1:9"},
            "timeout": {"baseUrl": elsewhere.url, "timeout": -1},
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
    codes |= {"moved": "INTERNAL_ERROR", "stalled": "TIMEOUT"}
    assert {label: one["code"] for label, one in seen.items()} == codes
    assert "secret" not in called.stdout


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
    # F3-20 F3-32 S3-065
    file = plane.made / "typescript" / "control_plane_client.ts"
    retries = {label: case.answers for label, case in CASES.items()}
    orders = json.dumps({"calls": plane.calls(), "codes": CODES, "retries": retries})
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
    for label, case in CASES.items():
        found = seen["retries"][label]
        assert (tuple(found["waits"]), found.get("code", "")) == (case.waits, case.code), label
        assert found["tries"] == len(case.answers)
