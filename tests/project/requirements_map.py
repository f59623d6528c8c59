"""Which test proves which requirement, and the page that says so.

A test names the requirements it proves in comments inside it: `# S3-016 T11`. The page
`docs/reference/requirements.md` lists every id that is named so, with the tests; what an id asks
and where it is met are written there by hand. `python -m tests.project.requirements_map --write`
refreshes the column of tests and keeps the rest; a new id gets a row with a first guess at where.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "reference" / "requirements.md"
ID = re.compile(r"\b(?:S[0-4]-\d{3}|F[0-4]-\d{2}|C\d{2}|T\d{2})\b")
# Also what was meant as an id and is none: a digit may be missing.
MEANT_AS_ID = re.compile(r"\b(?:[SF]\d-\d+|[CT]\d\d)\b")
LAST = {
    "S0": 83,
    "S1": 48,
    "S2": 61,
    "S3": 72,
    "S4": 89,
    "F0": 31,
    "F1": 11,
    "F2": 28,
    "F3": 33,
    "F4": 28,
    "C": 21,
    "T": 16,
}
MET_HEADER = "| id | what it asks | where | tests |"
LATER_HEADER = "| id | what it asks | why later |"


def numbered(prefix: str, first: int, last: int) -> list[str]:
    """The ids from `first` to `last` of one family."""
    digits = 3 if prefix.startswith("S") else 2
    return [f"{prefix}{number:0{digits}d}" for number in range(first, last + 1)]


DEMANDED = (
    *numbered("S3-", 1, 58),
    *numbered("S3-", 68, 72),
    *numbered("F3-", 1, 7),
    *numbered("F3-", 12, 14),
    *numbered("F3-", 24, 33),
    *numbered("C", 1, 3),
    *numbered("C", 6, 10),
    *("C12", "C15", "C19", "C20", "T05", "T11"),
    *numbered("S2-", 1, 61),
    *("F2-01", "F2-02", *numbered("F2-", 4, 8), *numbered("F2-", 11, 13)),
    *numbered("F2-", 15, 20),
    *numbered("F2-", 23, 28),
    *("C05", "C11", "C13", "C14", "C17", "C18", "C21", "T12", "T14"),
    *numbered("S4-", 1, 89),
    *numbered("F4-", 1, 28),
    *("C16", "T08", "T09", "T10", "T13", "T15", "T16"),
    *("S0-034", "S0-035"),
    *numbered("F0-", 10, 14),
    *("F0-21", "F0-22", "F2-09", "F2-19", "F2-21", "T01", "T03"),
    *(*numbered("F0-", 28, 31), "C04", "T06", "T07"),
    *numbered("S0-", 1, 13),
    *numbered("S0-", 16, 61),
    *("S0-014", "S0-015", *numbered("S0-", 62, 83)),
    *numbered("F0-", 1, 9),
    *numbered("F0-", 15, 20),
    *numbered("F0-", 23, 27),
    *("T02", "T04"),
    *numbered("S1-", 1, 48),
    *numbered("F1-", 1, 11),
    *("F2-03", "F2-10", "F2-22"),
)


class OutsideTest(Exception):
    """An id stands in a comment that belongs to no test."""


@dataclass(frozen=True, slots=True)
class Met:
    """One row of the first table; `tests` are `path::function`."""

    id: str
    what: str
    where: tuple[str, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Later:
    """One row of the second table."""

    id: str
    what: str
    why: str


def is_real(id: str) -> bool:
    """Whether there is a requirement of that id."""
    family, _, number = id.rpartition("-") if "-" in id else (id[0], "", id[1:])
    return bool(ID.fullmatch(id)) and 1 <= int(number) <= LAST[family]


def named_in_tests(root: Path = PROJECT) -> dict[str, tuple[str, ...]]:
    """Every id that a comment in a test names, with the tests, in order.

    Raises:
        OutsideTest: naming the file and the line.
    """
    found: dict[str, set[str]] = {}
    for path in sorted((root / "tests").rglob("*.py")):
        for id, test in _named_in(path, path.relative_to(root).as_posix()):
            found.setdefault(id, set()).add(test)
    return {id: tuple(sorted(found[id])) for id in sorted(found)}


def _named_in(path: Path, shown: str) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    if not MEANT_AS_ID.search(text):
        return
    functions = list(_functions(ast.parse(text)))
    for line, comment in _comments(text):
        for id in MEANT_AS_ID.findall(comment):
            names = [name for name, first, last in functions if first <= line <= last]
            if not names or not names[0].startswith("test_"):
                raise OutsideTest(f"{shown}:{line} names {id} outside a test")
            yield id, f"{shown}::{names[0]}"


def _functions(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield node.name, first, node.end_lineno or first


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            # The linter's own codes look like ids.
            yield token.start[0], token.string.partition("noqa")[0]


def read_met(page: str) -> dict[str, Met]:
    """The rows of the first table."""
    rows = (
        Met(id, what, _pieces(where), _pieces(tests))
        for id, what, where, tests in _table(page, MET_HEADER)
    )
    return {row.id: row for row in rows}


def read_later(page: str) -> dict[str, Later]:
    """The rows of the second table."""
    return {row[0]: Later(*row) for row in _table(page, LATER_HEADER)}


def _table(page: str, header: str) -> list[list[str]]:
    lines = page.splitlines()
    start = lines.index(header) + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


def _pieces(cell: str) -> tuple[str, ...]:
    return tuple(piece.strip().strip("`") for piece in cell.split("<br>") if piece.strip())


def refreshed(page: str, named: Mapping[str, tuple[str, ...]]) -> str:
    """`page` with the tests as they are; ids no test names are dropped, new ones added."""
    known = read_met(page)
    rows = [
        Met(
            id,
            known[id].what if id in known else "",
            known[id].where if id in known else guess_where(tests),
            tests,
        )
        for id, tests in named.items()
    ]
    lines = page.splitlines()
    start = lines.index(MET_HEADER) + 2
    end = next(
        (number for number in range(start, len(lines)) if not lines[number].startswith("|")),
        len(lines),
    )
    lines[start:end] = [_row(row) for row in rows]
    return "\n".join(lines) + "\n"


def _row(row: Met) -> str:
    where, tests = (_cell(items) for items in (row.where, row.tests))
    return f"| {row.id} | {row.what} | {where} | {tests} |"


def _cell(items: Iterable[str]) -> str:
    return "<br>".join(f"`{item}`" for item in items)


def guess_where(tests: Iterable[str]) -> tuple[str, ...]:
    """The modules that the tests' files mirror, where there are such modules."""
    guesses = []
    for test in tests:
        path = Path(test.partition("::")[0].removeprefix("tests/"))
        guess = path.with_name(path.name.removeprefix("test_"))
        if (PROJECT / guess).exists():
            guesses.append(guess.as_posix())
    return tuple(dict.fromkeys(guesses))


def main(arguments: list[str]) -> int:
    """Refresh the page with --write; without it, say whether it is up to date."""
    before = PAGE.read_text(encoding="utf-8")
    after = refreshed(before, named_in_tests())
    if "--write" in arguments:
        PAGE.write_text(after, encoding="utf-8")
        return 0
    if before != after:
        sys.stderr.write("The page is out of date; run with --write.\n")
    return int(before != after)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
