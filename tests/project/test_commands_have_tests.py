"""Every management command of the project has a test that runs it and a section in the reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import load_command_class
from django.core.management.base import BaseCommand

from tests.project.pages import PROJECT, REFERENCE, names, read, rows, section

APPS = ("controlplane", "tools", "health")
COMMANDS = sorted(
    (app, path.stem)
    for app in APPS
    for path in (PROJECT / app / "management" / "commands").glob("[!_]*.py")
)
PAGE = read(REFERENCE / "commands.md")


def own_flags(app: str, command: str) -> set[str]:
    """The flags a command has beside those of every command."""
    loaded = load_command_class(app, command)
    common = flags(BaseCommand()) | {"--skip-checks"}
    return flags(loaded) - common


def flags(command: BaseCommand) -> set[str]:
    parser = command.create_parser("manage.py", "command")
    return {option for action in parser._actions for option in action.option_strings}


def test_the_commands_are_found() -> None:
    assert {"up", "services", "serve", "issue_key", "apply_config"} <= {
        name for _, name in COMMANDS
    }


@pytest.mark.parametrize(("app", "command"), COMMANDS)
def test_a_test_file_named_for_the_command_runs_it(app: str, command: str) -> None:
    found = list((PROJECT / "tests").rglob(f"test_{command}.py"))
    assert found, f"write a test_{command}.py that runs the command"
    assert any(names_the_command(path, command) for path in found), f"{found} never runs {command}"


def names_the_command(path: Path, command: str) -> bool:
    """Whether the file, or a helper beside it, has the command's name as a word of its own."""
    texts = [read(path), *(read(helper) for helper in path.parent.glob("[!t_]*.py"))]
    return any(re.search(rf"[\"'`]{command}[\"'`]", text) for text in texts)


@pytest.mark.parametrize(("app", "command"), COMMANDS)
def test_the_reference_lists_exactly_the_flags_of_the_command(app: str, command: str) -> None:
    part = section(PAGE, f"### {command}")
    cells = [name for row in rows(part) for name in names(row[0])]
    documented = {cell.split()[0] for cell in cells if cell.startswith("-")}
    assert documented == own_flags(app, command)


def test_the_reference_has_no_section_of_a_command_that_is_gone() -> None:
    headings = re.findall(r"^### (\S+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(name for _, name in COMMANDS)


def test_the_reference_lists_exactly_the_actions_of_services() -> None:
    parser = load_command_class("controlplane", "services").create_parser("manage.py", "services")
    actions = next(action for action in parser._actions if action.dest == "action")
    cells = [names(row[0])[0] for row in rows(section(PAGE, "### services"))]
    documented = {cell.split()[0] for cell in cells if not cell.startswith("-")}
    assert documented == set(actions.choices or ())


def test_the_reference_lists_the_targets_of_make() -> None:
    targets = re.findall(r"^([a-z]+):.*##", read(PROJECT / "Makefile"), re.MULTILINE)
    documented = [names(row[0])[0] for row in rows(section(PAGE, "## make"))]
    assert set(documented) == {f"make {target}" for target in targets if target != "help"}
