"""What a SKILL.md tells agent programs to type works as it stands."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.project.pages import fenced
from tests.wrappers.foreign import foreign, tool
from tests.wrappers.generating import generate
from tests.wrappers.hostile import NAMES, TEXTS
from tests.wrappers.plane import Plane
from tests.wrappers.running import run_all

# What the service itself says of values that only stand for others, such as a todo that is not there.
REFUSED: Final = ("INVALID_ARGUMENTS", "TOOL_NOT_FOUND", "EXECUTION_ERROR")
# No schema tells what these need: ids of something that is there, and at least one field to change.
NEED_MORE: Final = {"gone", "read_result", "update_todo", "delete_todo"}


def bodies(skills: Path) -> dict[Path, str]:
    """What stands below the front matter of each SKILL.md, by its folder."""
    found = sorted(skills.glob("*/SKILL.md"))
    return {path.parent: path.read_text().split("---\n", 2)[2] for path in found}


def definition(folder: Path) -> dict[str, Any]:
    """The tool as the service lists it, of the skill in `folder`."""
    script = next((folder / "scripts").iterdir())
    found: dict[str, Any] = json.loads((folder.parent / f"{script.stem}.json").read_text())
    return found


def typed(told: dict[Path, str]) -> dict[str, subprocess.CompletedProcess[str]]:
    """What came of the one command of each skill, by its tool: a shell reads it in the skill's folder."""
    commands = {folder: fenced(body, "sh") for folder, body in told.items()}
    assert {folder.name for folder, found in commands.items() if len(found) != 1} == set()
    done = run_all(
        ["bash", "-c", f"cd {shlex.quote(str(folder))} && {command}"]
        for folder, (command,) in commands.items()
    )
    return {definition(folder)["name"]: one for folder, one in zip(commands, done, strict=True)}


def test_the_command_of_every_skill_works_as_it_stands(plane: Plane) -> None:
    # F3-19 F3-20 S3-065
    done = typed(bodies(plane.made / "skills"))
    assert set(done) == {*plane.tools, "gone", "unruly"}
    failed = {name: one for name, one in done.items() if one.returncode}
    assert set(failed) <= NEED_MORE, {name: one.stderr for name, one in failed.items()}
    for name, one in done.items():
        if name in failed:
            code = one.stderr.removeprefix("Error: [").partition("] ")[0]
            assert (one.returncode, code in REFUSED, one.stdout) == (1, True, ""), one.stderr
        else:
            assert (one.stderr, bool(json.loads(one.stdout))) == ("", True)


def test_every_skill_names_the_arguments_of_its_tool(plane: Plane) -> None:
    # F3-19
    for folder, body in bodies(plane.made / "skills").items():
        schema = definition(folder)["input_schema"]
        (command,) = fenced(body, "sh")
        rows = dict(re.findall(r"^\| `--([^`]+)` \| \w+ \| (yes|no) \|", body, re.MULTILINE))
        required = {name.replace("_", "-") for name in schema.get("required", ())}
        assert {name for name, needed in rows.items() if needed == "yes"} == required
        assert set(rows) == {name.replace("_", "-") for name in schema.get("properties", {})}
        assert {word.partition("=")[0] for word in shlex.split(command)[1:]} == {
            f"--{name}" for name in required
        }


# What a service may ask for, and what the example of its skill sends for it.
ODD: Final[dict[str, tuple[dict[str, Any], Any]]] = {
    "choice": ({"type": "string", "enum": ['it\'s "so"', "b"]}, 'it\'s "so"'),
    "harm": ({"type": "string", "enum": list(TEXTS)}, TEXTS[0]),
    "shown": ({"type": "string", "default": "$(touch pwned)", "examples": ["*"]}, "*"),
    "hyphen": ({"type": "string", "default": "--help"}, "--help"),
    "whole": ({"type": "integer", "minimum": 2.0}, 2),
    "above": ({"type": "integer", "exclusiveMinimum": 4.5}, 6),
    "below": ({"type": "integer", "maximum": -3}, -3),
    "least": ({"type": "number", "exclusiveMaximum": 0}, -1),
    "between": ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
    "wide": ({"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, 1),
    "wrong": ({"type": "integer", "default": "seven"}, 1),
    "half": ({"type": "integer", "default": 1.5}, 1),
    "truth": ({"type": "boolean", "default": "maybe"}, True),
    "word": ({"type": "string", "default": 7}, "text"),
    "day": ({"type": "string", "format": "date"}, "2026-01-31"),
    "long": ({"type": "string", "minLength": 6}, "textxx"),
    "items": ({"type": "array", "items": {"type": "string"}}, []),
    "some": ({"type": "array", "items": {"$ref": "#/$defs/Day"}, "minItems": 1}, ["2026-01-31"]),
    "object": ({"type": "object", "default": {"a": 1}}, {}),
    "filled": ({"type": "object", "required": ["a"], "properties": {"a": {"const": 7}}}, {"a": 7}),
    "odd": ({"type": "array", "minItems": "many"}, []),
    "anything": ({"default": 7}, 7),
}


def test_a_skill_gives_examples_that_its_script_takes_whatever_the_service_lists(
    tmp_path: Path,
) -> None:
    # F3-19
    odd = tool("odd", "Is odd.", **{name: schema for name, (schema, _) in ODD.items()})
    odd["input_schema"]["$defs"] = {"Day": {"type": "string", "format": "date"}}
    every = tool("every", "Has them all.", **{name: {"type": "string"} for name in NAMES})
    for one in (odd, every):
        one["input_schema"]["required"] = list(one["input_schema"]["properties"])
    with foreign([odd, every]) as service:
        assert generate(tmp_path, ("odd", service.url), types="skill").errors == []
        done = typed(bodies(tmp_path / "odd" / "skills"))
        assert {name: one.stderr for name, one in done.items()} == {"odd": "", "every": ""}
        sent = {one["tool"]: one["arguments"] for one in service.calls}
    assert sent["odd"] == {name: value for name, (_, value) in ODD.items()}
    assert sent["every"] == dict.fromkeys(NAMES, "text")
    assert not list(tmp_path.rglob("pwned"))
