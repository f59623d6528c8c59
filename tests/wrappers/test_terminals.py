"""What scripts and command lines write to terminals: colour of their own, and nothing of anybody else's."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.http_server import Reply, http_server
from tests.processes import wait_until
from tests.wrappers.foreign import Foreign, failed, succeeded
from tests.wrappers.running import SECONDS, environment, on_a_terminal, run

RED: Final = "\x1b[31mError: [EXECUTION_ERROR] On command.\x1b[0m"
# A sed that knows nothing of \xHH, which is GNU's own.
PLAIN_SED: Final = """#!/usr/bin/env bash
[ "$1" = -f ] || exit 9
exec {sed} -f <({sed} 's/\\\\x/x/g' "$2")
"""


@pytest.mark.parametrize("program", ["scripts/look.sh", "cli/look.py"])
def test_errors_are_red_on_a_terminal_and_plain_elsewhere(
    module: Any, service: Foreign, program: str
) -> None:
    # F3-16
    path = Path(module.__file__).parents[1] / program
    service.replies[:] = [failed(500, "EXECUTION_ERROR")] * 3
    assert on_a_terminal([path]).splitlines() == [RED]
    plain = "Error: [EXECUTION_ERROR] On command."
    assert on_a_terminal([path], NO_COLOR="1").splitlines() == [plain]
    assert run([path]).stderr.splitlines() == [plain]


def test_a_script_colours_data_on_a_terminal_alone(module: Any, service: Foreign) -> None:
    # F3-16
    path = Path(module.__file__).parents[1] / "scripts" / "look.sh"
    service.replies[:] = [succeeded({"said": "yes"})] * 3
    assert "\x1b[" in on_a_terminal([path])
    assert "\x1b" not in on_a_terminal([path], NO_COLOR="1")
    assert "\x1b" not in run([path]).stdout


@pytest.mark.parametrize("program", ["scripts/look.sh", "cli/look.py"])
def test_an_answer_that_breaks_off_is_not_shown(module: Any, program: str) -> None:
    # F3-16
    path = Path(module.__file__).parents[1] / program
    body = b"\x1b[2J\x1b]0;owned\x07" + b"x" * 200_000
    with http_server(always=Reply(body=body, short=True)) as server:
        done = run([path, f"--service-url={server.url}"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: [SERVICE_UNAVAILABLE] the answer did not come whole")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 300
    assert not set(done.stderr) & {"\x1b", "\x07"}


@pytest.mark.parametrize("size", [1, 200_000])
@pytest.mark.parametrize("answer", [succeeded, lambda data: (500, {}, json.dumps(data).encode())])
@pytest.mark.parametrize("program", ["scripts/look.sh", "cli/look.py"])
def test_a_reader_that_has_seen_enough_is_no_failure_to_tell_of(
    module: Any, service: Foreign, program: str, answer: Any, size: int
) -> None:
    # F3-16 F3-18
    path = Path(module.__file__).parents[1] / program
    service.replies[:] = [answer({"success": False, "error": "No.", "more": "x" * size})]
    reader, writer = os.pipe()
    os.close(reader)
    python = [sys.executable] if path.suffix == ".py" else []
    with open(writer, "wb") as gone:
        done = subprocess.run(
            [*python, path, "--json"],
            env=environment(),
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode != 0
    assert done.stderr in {"", "Error: [INTERNAL_ERROR] No.\n"}
    assert service.replies == []


def test_a_command_line_that_is_interrupted_ends_without_a_word(module: Any) -> None:
    # F3-18
    path = Path(module.__file__).parents[1] / "cli" / "look.py"
    with http_server(always=Reply(hang=True)) as silent:
        command = [sys.executable, str(path), f"--service-url={silent.url}"]
        waiting = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)
        wait_until(lambda: bool(silent.asked), what="the request")
        waiting.send_signal(signal.SIGINT)
        _, told = waiting.communicate(timeout=SECONDS)
    assert (waiting.returncode, told) == (130, "")


def test_a_script_says_what_its_program_says_of_a_failure(module: Any) -> None:
    # F3-16
    path = Path(module.__file__).parents[1] / "scripts" / "look.sh"
    done = run([path, "--service-url=http://127.0.0.1:9"])
    told = "Error: [SERVICE_UNAVAILABLE] http://127.0.0.1:9 cannot be reached: curl: (7) "
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1


def test_a_script_takes_the_answer_as_it_is_whatever_curl_is_set_to(
    module: Any, service: Foreign, tmp_path: Path
) -> None:
    # F3-16
    path = Path(module.__file__).parents[1] / "scripts" / "look.sh"
    (tmp_path / ".curlrc").write_text("location\ninclude\nfail\nverbose\nuser-agent = mine\n")
    with http_server() as elsewhere:
        service.replies[:] = [
            succeeded({"said": "yes"}),
            failed(500, "EXECUTION_ERROR"),
            (302, {"Location": elsewhere.url}, b""),
        ]
        done = [run([path], HOME=str(tmp_path), CONTROL_PLANE_KEY="secret") for _ in range(3)]
        # The key was for the service alone.
        assert elsewhere.asked == []
    assert (json.loads(done[0].stdout), done[0].stderr) == ({"said": "yes"}, "")
    assert done[1].stderr == "Error: [EXECUTION_ERROR] On command.\n"
    told = "the service answered with status 302 and no envelope"
    assert done[2].stderr == f"Error: [INTERNAL_ERROR] {told}\n"


def test_a_script_tames_an_answer_with_any_sed(
    module: Any, service: Foreign, tmp_path: Path
) -> None:
    # F3-16
    path = Path(module.__file__).parents[1] / "scripts" / "look.sh"
    found = shutil.which("sed", path=environment()["PATH"])
    (tmp_path / "sed").write_text(PLAIN_SED.format(sed=found))
    (tmp_path / "sed").chmod(0o755)
    service.replies[:] = [succeeded({"said": "\x7f\x80\x9f\u061c\u200e\u202e\u2066 Grüße"})]
    status, headers, body = service.replies[0]
    service.replies[0] = (status, headers, body.decode("unicode-escape").encode())
    done = run([path], PATH=f"{tmp_path}:{environment()['PATH']}", LANG="C.UTF-8")
    assert "\\u007f\\u0080\\u009f\\u061c\\u200e\\u202e\\u2066 Grüße" in done.stdout, done.stderr
