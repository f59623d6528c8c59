"""The container files name what the program knows: variables, commands and files."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from controlplane.env import PROJECT_DIR, SERVICE_OVERRIDES, VARIABLES
from tools.conf import LOOPBACK

COMPOSE = PROJECT_DIR / "deploy" / "compose.yaml"
CONTAINERFILE = PROJECT_DIR / "deploy" / "Containerfile"
OURS = ("controlplane", "pipelines")
KNOWN = {variable.name for variable in VARIABLES} | {name for name, _ in SERVICE_OVERRIDES}


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    return found


@pytest.mark.parametrize("name", OURS)
def test_compose_sets_only_variables_that_are_read(name: str) -> None:  # F0-27
    assert set(services()[name]["environment"]) <= KNOWN


@pytest.mark.parametrize("name", OURS)
def test_compose_runs_a_command_there_is(name: str) -> None:  # F0-25 F0-27
    python, manage, command, *_ = services()[name]["command"]
    assert (python, manage) == ("python", "manage.py")
    assert command in get_commands()


def test_a_control_plane_that_others_can_reach_asks_for_keys() -> None:
    environment = services()["controlplane"]["environment"]
    assert environment["SERVICE__HOST"] not in LOOPBACK
    assert environment["SECURITY__API_KEYS_ENABLED"] == "true"


def test_no_secret_has_a_default() -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    secrets = re.findall(r"\$\{(\w*(?:PASSWORD|KEY)\w*)(:?[-?])", text)
    assert {name for name, _ in secrets} == {"SECRET_KEY", "POSTGRES_PASSWORD", "ADMIN_PASSWORD"}
    assert {mark for _, mark in secrets} == {":?"}


def test_the_image_is_built_from_files_that_are_there() -> None:  # F0-27
    text = CONTAINERFILE.read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE)
    assert copied
    for source in " ".join(copied).split():
        assert (PROJECT_DIR / source).exists(), source
    assert "USER controlplane" in text
