"""The kinds of wrappers: which templates they have, where their files go, which may be run."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

# What every template gets; `arguments` are the JSON Schemas by name, `tools` all tools of the service.
VARIABLES: Final = (
    *("tool_name", "description", "arguments", "service_url"),
    *("service_name", "service_version", "service", "tool", "tools", "generation_timestamp"),
)


class KindFault(Exception):
    """There is no such kind of wrapper. The message names those there are."""


@dataclass(frozen=True, slots=True)
class WrapperTemplate:
    """One template of a kind. `output` is the file it makes, with fields of the tool or service in braces.

    `per_service` makes one file of all tools instead of one for each.
    """

    name: str
    template_path: str
    output_extension: str
    output: str
    variables: tuple[str, ...] = VARIABLES
    executable: bool = False
    per_service: bool = False

    def __post_init__(self) -> None:
        path = PurePosixPath(self.template_path)
        if path.is_absolute() or ".." in path.parts or path.suffix != ".j2":
            raise ValueError("template_path must be relative and end with .j2")
        if not self.output.endswith(self.output_extension):
            raise ValueError("output must end with output_extension")
        fields = [name for _, name, _, _ in string.Formatter().parse(self.output) if name]
        if not set(fields) <= {"stem", "script", "skill", "module"}:
            raise ValueError("output may have {stem}, {script}, {skill} and {module}")


@dataclass(frozen=True, slots=True)
class WrapperKind:
    """A kind of wrapper. `folder` is where its files go, below the folder of the service."""

    name: str
    folder: str
    templates: tuple[WrapperTemplate, ...]
    aliases: tuple[str, ...] = ()


_BASH: Final = "bash/tool_script.sh.j2"
KINDS: Final[Mapping[str, WrapperKind]] = {
    kind.name: kind
    for kind in (
        WrapperKind(
            "bash",
            "scripts",
            (WrapperTemplate("bash", _BASH, ".sh", "{stem}.sh", executable=True),),
            ("scripts", "script", "sh"),
        ),
        WrapperKind(
            "python",
            "python",
            (
                WrapperTemplate(
                    *("python", "python/service_client.py.j2", ".py", "{module}.py"),
                    per_service=True,
                ),
            ),
            ("py",),
        ),
        WrapperKind(
            "cli",
            "cli",
            (WrapperTemplate("cli", "cli/tool_cli.py.j2", ".py", "{script}.py", executable=True),),
            ("clis",),
        ),
        WrapperKind(
            "skill",
            "skills",
            (
                WrapperTemplate("skill", "skill/SKILL.md.j2", ".md", "{skill}/SKILL.md"),
                WrapperTemplate(
                    *("skill script", _BASH, ".sh", "{skill}/scripts/{stem}.sh"), executable=True
                ),
                WrapperTemplate(
                    "skill definition", "skill/tool_skill.json.j2", ".json", "{stem}.json"
                ),
            ),
            ("skills",),
        ),
        WrapperKind(
            "typescript",
            "typescript",
            (
                WrapperTemplate(
                    *("typescript", "typescript/service_client.ts.j2", ".ts", "{module}.ts"),
                    per_service=True,
                ),
            ),
            ("ts",),
        ),
    )
}
_NAMES: Final = {name: kind for kind in KINDS.values() for name in (kind.name, *kind.aliases)}


def parse_kinds(written: Iterable[str]) -> tuple[WrapperKind, ...]:
    """The kinds that are named, each text with one or several between commas; without any, all.

    Raises:
        KindFault: one is none.
    """
    wanted = [name.strip().lower() for text in written for name in text.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in _NAMES]
    if unknown:
        raise KindFault(f"{', '.join(unknown)}: no such type; there are {', '.join(KINDS)}")
    chosen = {_NAMES[name].name for name in wanted} or set(KINDS)
    return tuple(kind for kind in KINDS.values() if kind.name in chosen)
