"""Runs command lines one after the other in one process: python -P command_lines.py FILE

FILE holds a JSON array of arrays, each a file of Python and its arguments. What comes back is a JSON array of what
each ended with, printed and said on standard error.
"""

from __future__ import annotations

import io
import json
import runpy
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path


def run(words: list[str]) -> tuple[object, str, str]:
    """One file, as if it were run by itself."""
    printed, said = io.StringIO(), io.StringIO()
    sys.argv = words
    ended: object = 0
    with redirect_stdout(printed), redirect_stderr(said):
        try:
            runpy.run_path(words[0], run_name="__main__")
        except SystemExit as end:
            ended = end.code
    return ended, printed.getvalue(), said.getvalue()


if __name__ == "__main__":
    commands = json.loads(Path(sys.argv[1]).read_text())
    sys.stdout.write(json.dumps([run(one) for one in commands]))
