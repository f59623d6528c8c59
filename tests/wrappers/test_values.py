"""How values reach a script and a command line: by option, from a file, from standard input; seen by nobody else."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.wrappers.foreign import Foreign, foreign, tool
from tests.wrappers.generating import generate
from tests.wrappers.hostile import KINDS, VALUES
from tests.wrappers.running import environment, run

PROGRAMS: Final = ("scripts/plain.sh", "cli/plain.py")
# More than Linux lets one argument of a program be, and wide characters across every border of a buffer.
LONG: Final = "a" + "é漢" * 70_000 + "\n\n"
# In place of jq: writes down what a list of processes would show of it.
WATCHED: Final = """#!/usr/bin/env bash
printf '%s\\n' "$@" >>"$SEEN"
exec {jq} "$@"
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Foreign]:
    plain = tool("plain", word={"type": "string"}, more={"type": "string"}, **KINDS)
    plain["input_schema"]["required"] = ["word"]
    with foreign([plain]) as made:
        yield made


@pytest.fixture(scope="module")
def folder(service: Foreign, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("values")
    assert generate(output, ("odd", service.url), types="bash,cli").errors == []
    return output / "odd"


def fed(path: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run with `text` on standard input."""
    python = [sys.executable] if path.suffix == ".py" else []
    return subprocess.run(
        [*python, path, *options],
        input=text,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_value_of_a_script_is_an_argument_of_another_program(
    service: Foreign, folder: Path, tmp_path: Path
) -> None:
    # F3-16
    jq = shlex.quote(
        subprocess.run(
            ["bash", "-c", "command -v jq"],  # noqa: S607
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    (tmp_path / "jq").write_text(WATCHED.format(jq=jq))
    (tmp_path / "jq").chmod(0o755)
    seen = tmp_path / "seen"
    given = [
        "--word=s3cret",
        '--object={"a": "s3cret"}',
        '--items=["s3cret"]',
        '--anything="s3cret"',
    ]
    path = f"{tmp_path}:{environment()['PATH']}"
    done = run([folder / "scripts/plain.sh", *given], PATH=path, SEEN=str(seen))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["echo"]["object"] == {"a": "s3cret"}
    assert "fromjson" in seen.read_text()
    assert "s3cret" not in seen.read_text()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_value_of_any_length_is_sent_from_standard_input(
    service: Foreign, folder: Path, program: str
) -> None:
    # F3-16 F3-18
    given = {"word": LONG, "items": [LONG], "object": {LONG: None}, "whole": 3}
    done = fed(folder / program, json.dumps(given, ensure_ascii=False), "--arguments-from=-")
    assert (done.returncode, done.stderr) == (0, "")
    assert service.calls[-1]["arguments"] == given


def test_a_script_that_is_read_by_another_one_takes_a_value_of_any_length(
    service: Foreign, folder: Path
) -> None:
    # F3-16: its own arguments are then none of a program.
    code = f'value=$(cat; printf .); set -- --word="${{value%.}}"; . {folder}/scripts/plain.sh'
    done = subprocess.run(
        ["bash", "-c", code],  # noqa: S607
        input=LONG,
        env=environment(LANG="C.UTF-8"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert service.calls[-1]["arguments"] == {"word": LONG}


@pytest.mark.parametrize("program", PROGRAMS)
def test_arguments_of_a_file_hold_where_none_is_given_by_option(
    service: Foreign, folder: Path, tmp_path: Path, program: str
) -> None:
    # F3-16 F3-18
    values: dict[str, Any] = {
        "word": "of the file",
        "more": "of the file",
        "whole": -3,
        "truth": False,
        "maybe": None,
        "items": [one.replace("\0", "") for one in VALUES],
    }
    (tmp_path / "-file").write_text(json.dumps(values))
    done = run([folder / program, "--arguments-from", "-file", "--more=", "--whole=4"], tmp_path)
    if program.endswith(".py"):
        # To argparse what begins with a hyphen is an option.
        assert done.returncode == 2
        done = run([folder / program, "--arguments-from=-file", "--more=", "--whole=4"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert service.calls[-1]["arguments"] == {**values, "more": "", "whole": 4}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "--arguments-from must be of the kind object"),
        ("[1]", "--arguments-from must be of the kind object"),
        ('{"word": NaN}', "--arguments-from must be of the kind object"),
        ('{"more": "x"}', "--word"),
        (None, "the file of --arguments-from cannot be read"),
    ],
)
def test_a_file_that_will_not_do_is_refused_before_anything_is_sent(
    service: Foreign, folder: Path, tmp_path: Path, text: str | None, told: str
) -> None:
    service.calls.clear()
    if text is not None:
        (tmp_path / "given.json").write_text(text)
    for program in PROGRAMS:
        done = run([folder / program, "--arguments-from=given.json"], tmp_path)
        assert (done.returncode in {1, 2}, done.stdout) == (True, "")
        assert told in done.stderr
    assert service.calls == []


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("said", ['"true"', "1", "null", "[true]"])
def test_only_yes_is_success(service: Foreign, folder: Path, program: str, said: str) -> None:
    # F3-16 F3-18
    body = f'{{"success": {said}, "data": {{"done": true}}, "request_id": "1"}}'
    service.replies[:] = [(200, {}, body.encode())]
    done = run([folder / program, "--word=x"])
    assert (done.returncode, done.stdout) == (1, "")
    told = "Error: [INTERNAL_ERROR] the service answered with status 200 and no envelope\n"
    assert done.stderr == told
