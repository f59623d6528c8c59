#!/usr/bin/env python
"""Django's command line for the control plane."""

import os
import sys

from controlplane.env import EnvironmentFault


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
