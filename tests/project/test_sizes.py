"""Files and functions stay small, and the gate on coverage stays where it is."""

from __future__ import annotations

import ast
import re
import statistics
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.project.pages import PROJECT, read, tracked

LONGEST_FILE = 500
LARGEST_MEDIAN = 100
LONGEST_FUNCTION = 50
FILES = [path for path in tracked("*.py") if "migrations" not in path.parts]
LINES = {path: len(read(path).splitlines()) for path in FILES}


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    assert {shown(path): lines for path, lines in LINES.items() if lines > LONGEST_FILE} == {}


def test_the_median_file_is_at_most_a_hundred_lines() -> None:
    written = [lines for lines in LINES.values() if lines]
    assert statistics.median(written) <= LARGEST_MEDIAN


def test_no_function_is_longer_than_fifty_lines() -> None:
    long = {
        f"{shown(path)}::{name}": lines
        for path in FILES
        for name, lines in functions(path)
        if lines > LONGEST_FUNCTION
    }
    assert long == {}


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The functions of a file and their lines, decorators left out."""
    for node in ast.walk(ast.parse(read(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def shown(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def test_branch_coverage_below_ninety_percent_fails_the_test_run() -> None:
    # F3-28
    gate = re.search(r"slipcover --merge .*--fail-under (\d+)", read(PROJECT / "Makefile"))
    assert gate is not None
    assert int(gate[1]) >= 90
    coverage = tomllib.loads(read(PROJECT / "pyproject.toml"))["tool"]["slipcover"]
    assert coverage["branch"] is True
    assert {"tools", "health"} <= set(coverage["source"])
