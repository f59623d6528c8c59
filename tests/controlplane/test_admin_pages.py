"""Which processes load the pages of the admin."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys.argv = ["manage.py", {command!r}]
import django
django.setup()
from django.contrib import admin
print("tools.admin" in sys.modules, bool(admin.site._registry))
"""


@pytest.mark.parametrize(
    ("command", "loaded"), [("mcp_stdio", "False False"), ("serve", "True True")]
)
def test_only_a_stdio_server_whose_client_waits_for_it_does_without_pages(
    command: str, loaded: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(command=command)],
        env={"DJANGO_SETTINGS_MODULE": "controlplane.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == loaded
