"""Runs the suite in two lanes at once: whole control planes in one, all the rest in the other.

Both wait for processes more than they compute, so side by side they take little longer than the
longer one. The rest runs on SQLite, then on PostgreSQL. What the lanes print comes out one after the
other.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pytest", help="how pytest is started")
    parser.add_argument("--stacks", required=True, help="folders of the first lane")
    parser.add_argument("--once", required=True, help="folders that PostgreSQL is spared")
    options = parser.parse_args()
    pytest, stacks = shlex.split(options.pytest), options.stacks.split()
    others = [f"--ignore={folder}" for folder in stacks]
    spared = [f"--ignore={folder}" for folder in options.once.split()]
    with tempfile.TemporaryFile() as printed:
        beside = subprocess.Popen([*pytest, *stacks], stdout=printed, stderr=subprocess.STDOUT)
        try:
            on_sqlite = subprocess.run([*pytest, *others], check=False).returncode
            postgres = [sys.executable, "-m", "tests.run_on_postgres"]
            on_postgres = subprocess.run(
                [*postgres, *pytest, *others, *spared], check=False
            ).returncode
        finally:
            with_stacks = beside.wait()
            printed.seek(0)
            sys.stdout.write(printed.read().decode(errors="replace"))
    return max(on_sqlite, on_postgres, with_stacks)


if __name__ == "__main__":
    sys.exit(main())
