"""Every wrapper of every demo tool, run against a live control plane."""

from __future__ import annotations

import asyncio
import json
import shlex
import stat
from pathlib import Path
from typing import Any, Final

import pytest

from tests.project.pages import PROJECT, fenced, read
from tests.wrappers.failing import script
from tests.wrappers.generating import generate
from tests.wrappers.plane import Plane
from tests.wrappers.rows import NAME
from tests.wrappers.running import load, options, run, run_all
from tools.services.service_registry import read_registry
from tools.wrappers.registry import ServiceEntry

# How each code is had of the live service: a tool and its arguments.
CODES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "TOOL_NOT_FOUND": ("gone", {}),
    "INVALID_ARGUMENTS": ("unruly", {"number": 6}),
    "EXECUTION_ERROR": ("unruly", {"fail": "execution"}),
    "INTERNAL_ERROR": ("unruly", {"fail": "bug"}),
    "TIMEOUT": ("unruly", {"fail": "DeadlineExceeded"}),
    "RATE_LIMITED": ("unruly", {"fail": "RateLimited"}),
    "SERVICE_UNAVAILABLE": ("unruly", {"fail": "ServiceUnavailable"}),
}


@pytest.mark.parametrize("kind", ["bash", "cli", "skill"])
def test_every_script_of_every_demo_tool_answers(plane: Plane, kind: str) -> None:
    # S3-065 F3-16 F3-18 F3-20 F3-25
    calls = plane.calls()
    assert len(calls) >= 25
    done = run_all([script(plane, kind, name), *options(given)] for name, given in calls.items())
    failed = {name: one.stderr for name, one in zip(calls, done, strict=True) if one.returncode}
    assert failed == {}
    answers = {name: json.loads(one.stdout) for name, one in zip(calls, done, strict=True)}
    assert answers["rag_basic"]["answer"] == "Otters hold hands while they sleep. [1]"
    assert answers["create_todo"]["title"] == 'Say "hello" to $HOME & `all`'
    assert answers["update_todo"]["title"] == "Grüße 🌱"


@pytest.mark.parametrize("kind", ["bash", "cli", "skill"])
@pytest.mark.parametrize("code", list(CODES))
def test_a_script_tells_each_error_and_ends_with_one(plane: Plane, kind: str, code: str) -> None:
    # F3-16 F3-18 F3-20, and the table of errors
    tool, arguments = CODES[code]
    done = run([script(plane, kind, tool), *options(arguments)])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: [{code}] ")
    assert "hunter2" not in done.stderr


def test_scripts_take_arguments_by_position_and_show_the_whole_answer(plane: Plane) -> None:
    # F3-16 F3-18
    by_position = run([script(plane, "bash", "unruly"), "", "5", '{"ready": true}'])
    assert json.loads(by_position.stdout) == {"ready": True}
    for kind in ("bash", "cli"):
        whole = run([script(plane, kind, "unruly"), "--result", "[1, 2]", "--json"])
        envelope = json.loads(whole.stdout)
        assert (envelope["success"], envelope["data"]) == (True, {"result": [1, 2]})
        assert envelope["request_id"]
        elsewhere = run([script(plane, kind, "unruly"), "--service-url", "http://127.0.0.1:9"])
        assert "[SERVICE_UNAVAILABLE]" in elsewhere.stderr
        named = run([script(plane, kind, "unruly")], CONTROL_PLANE_URL="http://127.0.0.1:9")
        assert "[SERVICE_UNAVAILABLE]" in named.stderr


def test_a_python_client_calls_every_demo_tool_both_ways(plane: Plane) -> None:
    # F3-17 S3-065
    module = load(plane.made / "python" / "control_plane_client.py")
    client, waiting = module.ControlPlaneClient(api_key=""), module.AsyncControlPlaneClient()
    answers = {name: getattr(client, name)(**given) for name, given in plane.calls().items()}
    assert answers["rag_basic"]["answer"] == "Otters hold hands while they sleep. [1]"
    assert set(answers) == set(plane.tools)

    async def all_at_once() -> list[dict[str, Any]]:
        calls = plane.calls().items()
        answers = await asyncio.gather(*(getattr(waiting, name)(**given) for name, given in calls))
        return list(answers)

    assert all(isinstance(one, dict) for one in asyncio.run(all_at_once()))


@pytest.mark.parametrize("code", list(CODES))
def test_a_python_client_raises_its_own_error(plane: Plane, code: str) -> None:
    # F3-17 F3-20, and the table of errors
    module = load(plane.made / "python" / "control_plane_client.py")
    tool, arguments = CODES[code]
    with pytest.raises(module.ControlPlaneError) as raised:
        getattr(module.ControlPlaneClient(retry=False), tool)(**arguments)
    failure = raised.value
    assert failure.code == code
    assert failure.request_id
    waits = {"RATE_LIMITED": 3, "SERVICE_UNAVAILABLE": 3, "TIMEOUT": 1}
    assert failure.retry_after == waits.get(code)
    with pytest.raises(module.ControlPlaneError, match=code):
        asyncio.run(getattr(module.AsyncControlPlaneClient(retry=False), tool)(**arguments))


def test_the_page_about_wrappers_leads_to_a_first_call(plane: Plane, tmp_path: Path) -> None:
    # S3-065
    page = read(PROJECT / "docs" / "how-to" / "generate-wrappers.md")
    example = read(PROJECT / "examples" / "this-control-plane.yaml")
    assert example.partition("\n")[2] == fenced(page, "yaml")[0]
    (entry,) = read_registry(example)
    here = ServiceEntry(entry.name, plane.url, key_variable=entry.key_variable)
    assert generate(tmp_path / "output", here).errors == []
    start = page.partition("## Say which")[0]
    commands = [shlex.split(line) for line in start.splitlines() if line[:10] == "    output"]
    for command in commands:
        done = run([tmp_path / command[0], *command[1:]], tmp_path)
        assert done.returncode == 0, done.stderr
    assert "Water the plants" in run([tmp_path / commands[1][0]], tmp_path).stdout
    program = tmp_path / "program.py"
    program.write_text(fenced(page, "python")[0])
    done = run([program], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_summary_counts_and_the_tree_is_laid_out(plane: Plane) -> None:
    # F3-23 S3-062 S3-064
    count = len(plane.tools) + 2
    assert (
        f"{NAME}: {count} tools, bash {count}, python 1, cli {count}, skill {count}" in plane.told
    )
    assert "0 errors" in plane.told
    assert {path.name for path in plane.made.iterdir()} == {
        *("scripts", "python", "cli", "skills", "typescript"),
    }
    for path in [*plane.made.glob("**/*.sh"), *plane.made.glob("cli/*.py")]:
        assert path.stat().st_mode & stat.S_IXUSR, path
    assert not (plane.made / "python" / "control_plane_client.py").stat().st_mode & stat.S_IXUSR


def test_keys_come_from_the_environment(plane: Plane) -> None:
    wrong = "cp_nobody_has_this_key"
    for kind in ("bash", "cli"):
        done = run([script(plane, kind, "server_metrics")], CONTROL_PLANE_API_KEY=wrong)
        assert done.returncode == 1
        assert "[INVALID_ARGUMENTS]" in done.stderr
        assert wrong not in done.stderr
        odd = run([script(plane, kind, "server_metrics")], CONTROL_PLANE_API_KEY="a\nX-Evil: b")
        assert "Error: " in odd.stderr
        assert "characters" in odd.stderr
    # What an import compiled is among them.
    for path in filter(Path.is_file, plane.made.rglob("*")):
        assert b"cp_" not in path.read_bytes(), path
