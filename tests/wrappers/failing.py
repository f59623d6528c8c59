"""Calls that fail, through every wrapper of a kind, and the codes they are told with."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.wrappers.plane import Plane
from tests.wrappers.running import load, options, run, run_all, run_typescript

BATCH: Final = Path(__file__).resolve().parent / "command_lines.py"
# The argument that no tool has.
UNKNOWN: Final = "nobody_knows"
# What an argument of no demo tool may be.
ODD: Final = {"no": "such value"}
ENDS: Final = {"bash": "sh", "cli": "py"}


@dataclass(frozen=True, slots=True)
class Calls:
    """The same call of each tool, made at `url` with `key`; `wrong` makes the arguments such as none takes."""

    plane: Plane
    tools: Mapping[str, Mapping[str, Any]]
    url: str
    folder: Path
    key: str = ""
    wrong: bool = False

    @property
    def environment(self) -> dict[str, str]:
        return {"CONTROL_PLANE_URL": self.url, "CONTROL_PLANE_API_KEY": self.key}

    def words(self, kind: str, tool: str) -> list[str]:
        """The call as it is written in a shell."""
        given = self.tools[tool]
        if not self.wrong:
            return [str(script(self.plane, kind, tool)), *options(given)]
        # Values are checked before they are sent, where they are options.
        file = self.folder / f"{tool}.json"
        file.write_text(json.dumps({**given, UNKNOWN: 1}))
        return [str(script(self.plane, kind, tool)), f"--arguments-from={file}"]


def script(plane: Plane, kind: str, tool: str) -> Path:
    """The file to run: of a skill, the script that it names."""
    if kind == "skill":
        definition = json.loads((plane.made / "skills" / f"{tool}.json").read_text())
        return plane.made / "skills" / str(definition["skill"]) / "scripts" / f"{tool}.sh"
    return plane.made / ("scripts" if kind == "bash" else "cli") / f"{tool}.{ENDS[kind]}"


def _scripts(calls: Calls, kind: str) -> dict[str, str]:
    done = run_all((calls.words(kind, tool) for tool in calls.tools), None, **calls.environment)
    ends = [(one.returncode, one.stdout, one.stderr) for one in done]
    return {tool: _told(*end) for tool, end in zip(calls.tools, ends, strict=True)}


def _command_lines(calls: Calls) -> dict[str, str]:
    orders = calls.folder / "command_lines.json"
    orders.write_text(json.dumps([calls.words("cli", tool) for tool in calls.tools]))
    done = run([sys.executable, "-P", BATCH, orders], None, **calls.environment)
    assert done.returncode == 0, done.stderr
    return {
        tool: _told(*end) for tool, end in zip(calls.tools, json.loads(done.stdout), strict=True)
    }


def _told(ended: int, printed: str, said: str) -> str:
    """The code on standard error; what is not as it should be, as it is."""
    marked = said.startswith("Error: [") and said.count("\n") <= 2
    if (ended, printed, marked) == (1, "", True):
        return said[len("Error: [") :].partition("]")[0]
    return f"ended with {ended}: {printed[:200]}{said[:200]}"


def _python(calls: Calls) -> dict[str, str]:
    module = load(calls.plane.made / "python" / "control_plane_client.py")
    client = module.ControlPlaneClient(calls.url, api_key=calls.key, retry=False)
    found = {}
    for tool, given in calls.tools.items():
        try:
            found[tool] = f"answered {_method(client, tool, given, wrong=calls.wrong)()}"
        except module.ControlPlaneError as failure:
            found[tool] = failure.code
    return found


def _python_async(calls: Calls) -> dict[str, str]:
    module = load(calls.plane.made / "python" / "control_plane_client.py")
    client = module.AsyncControlPlaneClient(calls.url, api_key=calls.key, retry=False)

    async def one(tool: str, given: Mapping[str, Any]) -> str:
        try:
            return f"answered {await _method(client, tool, given, wrong=calls.wrong)()}"
        except module.ControlPlaneError as failure:
            return str(failure.code)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one(*call) for call in calls.tools.items()))

    return dict(zip(calls.tools, asyncio.run(all_of_them()), strict=True))


def _method(client: Any, tool: str, given: Mapping[str, Any], *, wrong: bool) -> Callable[[], Any]:
    method = getattr(client, tool)
    if not wrong:
        return lambda: method(**given)
    names = [name for name in method.__annotations__ if name != "return"]
    if names:
        return lambda: method(**{**given, names[0]: ODD})
    # A method without parameters sends nothing that could be wrong.
    return lambda: client.call(tool, {UNKNOWN: 1})


def _typescript(calls: Calls) -> dict[str, str]:
    more = {UNKNOWN: 1} if calls.wrong else {}
    codes = {tool: (tool, {**given, **more}) for tool, given in calls.tools.items()}
    file = calls.plane.made / "typescript" / "control_plane_client.ts"
    seen, _ = run_typescript(file, "ControlPlane", calls.environment, codes=codes)
    return {tool: one.get("code", f"answered {one}") for tool, one in seen["codes"].items()}


KINDS: Final[Mapping[str, Callable[[Calls], dict[str, str]]]] = {
    "bash": lambda calls: _scripts(calls, "bash"),
    "skill": lambda calls: _scripts(calls, "skill"),
    "cli": _command_lines,
    "python": _python,
    "python async": _python_async,
    "typescript": _typescript,
}
