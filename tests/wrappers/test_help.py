"""What scripts and command lines say of a tool when they are asked how they are used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.wrappers.foreign import foreign, tool
from tests.wrappers.generating import generate
from tests.wrappers.running import run

# Has an argument of every kind, and everything a schema may say of one. Its name is one of the origin's.
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "function_name": {"type": "string", "description": "Whose callers are wanted."},
    "max_depth": {
        "type": "integer",
        "description": "How many steps to go.",
        "minimum": 1,
        "maximum": 10,
        "default": 3,
    },
    "order": {"type": "string", "enum": ["near", "far"], "default": "near"},
    "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "tests_too": {"type": "boolean", "description": "Also tests.", "default": False},
    "folders": {"type": "array", "items": {"type": "string"}, "description": "Where to look."},
    "filter": {"type": "object"},
    "note": {},
}
DESCRIPTION: Final = "Find the callers of a function.\nNearest ones first; 100 % of them."
SCRIPT: Final = """\
Usage: query_callers.sh [OPTION...] [ARGUMENT...]

Find the callers of a function.
Nearest ones first; 100 % of them.

Arguments, by position or by option. Empty ones are left out; --name= sends an empty text.
Put -- before arguments that begin with a hyphen and are no numbers.
  --function-name STRING  (required)
      Whose callers are wanted.
  --max-depth INTEGER
      How many steps to go; minimum 1; maximum 10; default 3
  --order STRING
      one of: near, far; default "near"
  --share NUMBER  (required)
      more than 0; less than 1
  --tests-too BOOLEAN
      Also tests; default false
  --folders ARRAY
      Where to look.
  --filter OBJECT
  --note ANY
Arrays, objects and values of any kind are written as JSON.

Options:
  --arguments-from FILE  take arguments from a JSON object in FILE, - for standard input; others come on top
  --json               print the whole answer, not only its data
  --service-url URL    ask this service instead
  --timeout SECONDS    how long to wait, 60 by default
  -h, --help           this text

The key, where the service asks for one, is read from GRAPH_API_KEY,
the address of the service from GRAPH_URL, if they are set.
"""
COMMAND_LINE: Final = """\
usage: query_callers.py [OPTION ...]

Find the callers of a function.
Nearest ones first; 100 % of them.

options:
  -h, --help show this help message and exit
  --function-name TEXT required; Whose callers are wanted.
  --max-depth INTEGER How many steps to go; minimum 1; maximum 10; default 3
  --order TEXT one of: near, far; default "near"
  --share NUMBER required; more than 0; less than 1
  --tests-too [true|false]
  Also tests; default false
  --folders ITEM Where to look. (repeat it for each item, or give a JSON array)
  --filter JSON
  --note JSON

about the call:
  --arguments-from FILE
  take arguments from a JSON object in FILE, - for standard input; others come on top
  --json print the whole answer, not only its data
  --service-url URL ask this service instead of {url}
  --timeout SECONDS how long to wait, 60 by default
  --retry try again as the error's code allows
  --longest-pause SECONDS
  end at once where --retry would wait longer, 60 by default

The key, where the service asks for one, is read from GRAPH_API_KEY, the address from GRAPH_URL, if they are set.
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of a service's wrappers, and its address."""
    one = tool("query_callers", DESCRIPTION, **ARGUMENTS)
    one["input_schema"]["required"] = ["function_name", "share"]
    folder = tmp_path_factory.mktemp("help")
    with foreign([one]) as service:
        assert generate(folder, ("graph", service.url), types="bash,cli,skill").errors == []
        yield folder / "graph", service.url
        assert service.calls == []


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_a_script_tells_everything_about_its_arguments(made: tuple[Path, str], option: str) -> None:
    # F3-16
    folder, _ = made
    for script in ("scripts", "skills/graph-query-callers/scripts"):
        done = run([folder / script / "query_callers.sh", option])
        assert (done.returncode, done.stdout, done.stderr) == (0, SCRIPT, "")


def test_a_command_line_tells_everything_about_its_arguments(made: tuple[Path, str]) -> None:
    # F3-18
    folder, url = made
    done = run([folder / "cli" / "query_callers.py", "--help"], COLUMNS="160")
    # Its columns are as wide as the longest option.
    words = [" ".join(line.split()) for line in done.stdout.splitlines()]
    told = [" ".join(line.split()) for line in COMMAND_LINE.format(url=url).splitlines()]
    assert (done.returncode, words, done.stderr) == (0, told, "")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--share=1",), "--function-name"),
        (("--function-name=f", "--share=x"), "--share"),
        (("--function-name=f", "--share=1", "--max-depth=1.5"), "--max-depth"),
        (("--function-name=f", "--share=1", "--depth=1"), "--depth"),
    ],
)
def test_both_name_the_option_that_is_wrong_or_missing(
    made: tuple[Path, str], given: tuple[str, ...], told: str
) -> None:
    # F3-16 F3-18
    folder, _ = made
    for path in ("scripts/query_callers.sh", "cli/query_callers.py"):
        done = run([folder / path, *given])
        assert (done.returncode in {1, 2}, done.stdout) == (True, "")
        assert told in done.stderr
