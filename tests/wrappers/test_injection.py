"""What a service says of its tools runs nowhere; and were it to run, these tests would see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

import pytest

from tests.wrappers.foreign import Foreign, foreign, tool
from tests.wrappers.generating import generate
from tests.wrappers.hostile import TEXTS
from tests.wrappers.running import load, run, run_typescript
from tools.wrappers.rendering import TEMPLATES


def _use_python(folder: Path, names: list[str]) -> None:
    module = load(folder / "python" / "odd_client.py")
    client, waiting = module.OddClient(retry=False), module.AsyncOddClient(retry=False)
    for name in names:
        getattr(client, name)(word="x")
        asyncio.run(getattr(waiting, name)(word="x"))


def _use_scripts(folder: Path, names: list[str]) -> None:
    for name in names:
        for option in ("--help", "--word=x"):
            assert run([folder / "scripts" / f"{name}.sh", option]).returncode == 0


def _use_command_lines(folder: Path, names: list[str]) -> None:
    for name in names:
        for option in ("--help", "--word=x"):
            assert run([folder / "cli" / f"{name}.py", option]).returncode == 0


def _use_typescript(folder: Path, names: list[str]) -> None:
    file = folder / "typescript" / "odd_client.ts"
    seen, _ = run_typescript(file, "Odd", calls={name: {"word": "x"} for name in names})
    assert [name for name, one in seen["calls"].items() if "data" not in one] == []


USES: Final[dict[str, Callable[[Path, list[str]], None]]] = {
    "python": _use_python,
    "bash": _use_scripts,
    "cli": _use_command_lines,
    "typescript": _use_typescript,
}
# A filter left out, as by somebody who changes a template: what is written instead, and the text that then runs.
BROKEN: Final = {
    "python": (
        "python/service_client.py.j2",
        "tool.description|docstring(8)",
        "tool.description",
        '""" + str(__import__("os").system("touch pwned")) + """',
    ),
    "bash": (
        "bash/tool_script.sh.j2",
        "{{ tool.description|sh_lines }}",
        '"{{ tool.description }}"',
        "$(touch pwned)",
    ),
    "cli": (
        "cli/tool_cli.py.j2",
        "{{ tool.description|wrapped|py }}",
        '"""{{ tool.description }}"""',
        '""" + str(__import__("os").system("touch pwned")) + """',
    ),
    "typescript": (
        "typescript/service_client.ts.j2",
        "tool.name|jsdoc_line(100)",
        "tool.description",
        '*/ process.getBuiltinModule("fs").writeFileSync("pwned", ""); /*',
    ),
}


def _tools() -> list[dict[str, Any]]:
    return [
        tool(f"text_{place}", text, word={"type": "string", "description": text})
        for place, text in enumerate(TEXTS)
    ]


def _left_behind(service: Foreign, folder: Path, kind: str, **order: Any) -> list[Path]:
    """What was run by mistake while every wrapper of `kind` was used, wherever it ran."""
    assert generate(folder, ("odd", service.url), types=kind, **order).errors == []
    # The modules of Python are loaded into this process.
    with chdir(folder):
        USES[kind](folder / "odd", [one["name"] for one in service.tools])
    return list(folder.rglob("pwned"))


@pytest.mark.parametrize("kind", USES)
def test_no_text_of_a_service_is_run(tmp_path: Path, kind: str) -> None:
    # F3-16 F3-17 F3-18 F3-20
    with foreign(_tools()) as service:
        assert _left_behind(service, tmp_path, kind) == []


@pytest.mark.parametrize("kind", BROKEN)
def test_a_text_that_a_broken_template_runs_is_found(tmp_path: Path, kind: str) -> None:
    name, honest, broken, text = BROKEN[kind]
    assert text in TEXTS
    written = (TEMPLATES / name).read_text()
    assert honest in written
    own = tmp_path / "own" / name
    own.parent.mkdir(parents=True)
    own.write_text(written.replace(honest, broken))
    with foreign([tool("look", text, word={"type": "string"})]) as service:
        found = _left_behind(service, tmp_path / "made", kind, templates=tmp_path / "own")
    assert [path.name for path in found] == ["pwned"]
