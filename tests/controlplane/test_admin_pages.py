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
        (["manage.py", "serve"], WITHOUT),
        (["/x/manage.py", "check", "--deploy"], WITH),
        (["/x/bin/uvicorn", "controlplane.asgi"], WITH),
        (["manage.py", "mcp_stdio"], WITHOUT),
        (["manage.py", "migrate"], WITHOUT),
        (["/x/site-packages/celery/__main__.py", "--app", "controlplane.celery"], WITHOUT),
        (["/x/bin/celery", "--app", "controlplane.celery"], WITHOUT),
    ],
)
def test_only_those_that_show_or_check_pages_load_them(arguments: list[str], loaded: str) -> None:
    assert said_by(PROGRAM.format(arguments=arguments)) == [loaded]


# What a web process does: it loads the application, serves, and lets the pages follow.
SERVING = """
import asyncio, gc, sys
sys.argv = ["manage.py", "serve"]
import controlplane.asgi
from controlplane import admin_pages
from django.contrib import admin
print(bool(admin.site._registry))

async def serve():
    async with admin_pages.pages_soon():
        while not gc.get_freeze_count():
            await asyncio.sleep(0.01)

asyncio.run(asyncio.wait_for(serve(), 30))
print(bool(admin.site._registry))
walked = {id(one) for one in gc.get_objects()}
print(any(id(one.__dict__) in walked for one in admin.site._registry.values()))
"""


def test_a_web_process_is_ready_before_its_pages_which_follow_by_themselves() -> None:
    # No collection of garbage looks through the pages.
    assert said_by(SERVING) == ["False", "True", "False"]


def said_by(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"DJANGO_SETTINGS_MODULE": "controlplane.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()
