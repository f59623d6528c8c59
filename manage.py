#!/usr/bin/env python
"""Django's command line for the control plane."""

import gc
import os
import sys

from controlplane.runtime.ending import skip_teardown_after_serving

skip_teardown_after_serving()

from controlplane.env import EnvironmentFault  # noqa: E402 - exit handlers of others run before that one

# Of what a start makes nearly everything stays: to look through it for garbage every 700 objects, as
# Python does, takes a tenth of the start.
gc.set_threshold(50_000, 20, 20)


def main() -> None:
    # What this process and those it starts write is for its user alone.
    os.umask(0o077)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except EnvironmentFault as fault:
        sys.exit(str(fault))


if __name__ == "__main__":
    main()
