"""What /health says of faults, how soon, and how soon after the repair all is well again.

    python -m bench.health_faults [--only NAME ...]

A whole control plane on PostgreSQL with the demo corpus, health checks every 10 s, /health asked all the
time. Times include what it takes to stop and to start a process.
"""

from __future__ import annotations

import argparse
import os

import django


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="names of faults, such as redis")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    # Needs Django set up.
    from bench.health_matrix import run

    run(options.only)


if __name__ == "__main__":
    main()
