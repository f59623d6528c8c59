"""Router and evaluation need nothing but Python, and know nothing of any tool."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from agent.intents.cases import recorded_tools
from tests.project.pages import PROJECT, read

AGENT = PROJECT / "agent"
FILES = [
    *sorted((AGENT / "router").rglob("*.py")),
    *sorted((AGENT / "intents").glob("*.py")),
    AGENT / "evaluate_intents.py",
    AGENT / "prompt.py",
    AGENT / "settings.py",
]
# The model of the chat is built with the agent's packages, and imported where one is configured.
ON_DEMAND = ("evaluate_intents.py", "agent.measured")


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(read(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(AGENT).as_posix())
def test_only_python_itself_is_imported(path: Path) -> None:
    ours = ("agent.router", "agent.intents", "agent.prompt", "agent.settings")
    others = {
        name
        for name in imported(path)
        if not name.startswith(ours) and (path.name, name) != ON_DEMAND
    }
    assert {name.partition(".")[0] for name in others} <= set(sys.stdlib_module_names)


def test_the_router_has_no_table_of_tools() -> None:
    code = "".join(read(path) for path in (AGENT / "router").rglob("*.py"))
    named = [tool.name for tool in recorded_tools() if re.search(rf"\b{tool.name}\b", code)]
    assert named == []
