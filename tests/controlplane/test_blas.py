"""Matrix products take the core of the process that asks for them, and no others."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

THREADS = """
import controlplane.settings, os
import numpy
numpy.ones((500, 500)) @ numpy.ones((500, 500))
print(len(os.listdir('/proc/self/task')))
"""


@pytest.mark.parametrize(("asked", "threads"), [("", "1"), ("2", "2")])
def test_numpy_has_one_thread_unless_the_operator_says_otherwise(asked: str, threads: str) -> None:
    environment = {name: value for name, value in os.environ.items() if "OPENBLAS" not in name}
    if asked:
        environment["OPENBLAS_NUM_THREADS"] = asked
    done = subprocess.run(
        [sys.executable, "-c", THREADS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == threads
