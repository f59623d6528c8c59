"""Which processes load the pages of the admin."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys.argv = {arguments!r}
import django
django.setup()
from django.contrib import admin
print("tools.admin" in sys.modules, bool(admin.site._registry))
"""
WITH, WITHOUT = "True True", "False False"


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["manage.py", "serve"], WITH),
        (["/x/manage.py", "check", "--deploy"], WITH),
        (["/x/bin/uvicorn", "controlplane.asgi"], WITH),
        (["manage.py", "mcp_stdio"], WITHOUT),
        (["manage.py", "migrate"], WITHOUT),
        (["/x/site-packages/celery/__main__.py", "--app", "controlplane.celery"], WITHOUT),
        (["/x/bin/celery", "--app", "controlplane.celery"], WITHOUT),
    ],
)
def test_only_those_that_show_or_check_pages_load_them(arguments: list[str], loaded: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=arguments)],
        env={"DJANGO_SETTINGS_MODULE": "controlplane.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == loaded
