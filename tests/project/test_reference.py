"""The reference pages on the API, the tools and the models list what the code has."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Model

from tests.project.pages import REFERENCE, names, read, rows, section
from tests.project.test_error_shape import EXPECTED, built, subclasses
from tools.backends.builtin import BUILTINS
from tools.backends.statistics import RANGES
from tools.errors import ControlPlaneError, ErrorCode, ErrorDetails, InvalidArguments

API = read(REFERENCE / "rest-api.md")
TOOLS = read(REFERENCE / "tools.md")
MODELS = read(REFERENCE / "models.md")
CODES, NARROWER = section(API, "## Codes").split("narrower status")
OUR_MODELS = [
    model for app in ("tools", "health") for model in apps.get_app_config(app).get_models()
]


def test_each_code_is_listed_with_its_status() -> None:
    # S3-019 F3-29
    listed = {names(row[0])[0]: int(row[1]) for row in rows(CODES)}
    general = {kind.code.value: kind.http_status for kind in ControlPlaneError.__subclasses__()}
    assert listed == general
    assert set(listed) == {code.value for code in ErrorCode}


def test_statuses_beside_those_of_the_codes_are_listed() -> None:
    listed = {int(row[0]) for row in rows(NARROWER)}
    special = {kind.http_status for kind in subclasses(InvalidArguments)}
    assert listed == special - {InvalidArguments.http_status}


def test_guidance_on_trying_again_agrees_with_the_errors() -> None:
    # F3-32
    guidance = {names(row[0])[0]: row[3] for row in rows(CODES)}
    for kind in subclasses(ControlPlaneError):
        advice = guidance[kind.code.value]
        if kind.retryable:
            assert not advice.startswith("never"), kind.__name__
        if kind.http_status in {400, 404}:
            assert advice.startswith("never"), kind.__name__
        if "Retry-After" in advice:
            assert "Retry-After" in built(kind).headers, kind.__name__
    times = {code: re.findall(r"(\d) times at most", text) for code, text in guidance.items()}
    assert times == {
        "INVALID_ARGUMENTS": [],
        "TOOL_NOT_FOUND": [],
        "RATE_LIMITED": ["3"],
        "EXECUTION_ERROR": ["4"],
        "INTERNAL_ERROR": ["4"],
        "SERVICE_UNAVAILABLE": ["3"],
        "TIMEOUT": ["2"],
    }


def test_every_detail_of_an_error_is_listed() -> None:
    listed = [names(row[0])[0] for row in rows(section(API, "## The envelope"))]
    assert set(listed) >= {field.name for field in fields(ErrorDetails)}
    assert set(EXPECTED) == {kind.__name__ for kind in subclasses(ControlPlaneError)}


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_a_built_in_tool_is_listed_with_its_arguments_and_defaults(name: str) -> None:
    properties: dict[str, Any] = dict(BUILTINS[name].input_schema["properties"])
    table = [row for row in rows(section(TOOLS, f"## {name}")) if len(row) == 4]
    listed = {names(row[0])[0]: row[2].strip("`") for row in table}
    assert listed == {
        key: shown(value["default"]) if "default" in value else ""
        for key, value in properties.items()
    }


def shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return f'"{default}"' if isinstance(default, str) else str(default)


def test_no_tool_is_listed_that_is_gone() -> None:
    assert sorted(re.findall(r"^## (\S+)$", TOOLS, re.MULTILINE)) == sorted(BUILTINS)
    for moment in RANGES:
        assert f"`{moment}`" in TOOLS


@pytest.mark.parametrize("model", OUR_MODELS, ids=lambda model: str(model.__name__))
def test_a_model_is_listed_with_all_its_fields(model: type[Model]) -> None:
    listed = set(names(section(MODELS, f"## {model.__name__}")))
    own = {field.name for field in model._meta.get_fields() if not field.auto_created}
    assert sorted(own - listed) == []


def test_no_model_is_listed_that_is_gone() -> None:
    headings = re.findall(r"^## (\S+)$", MODELS, re.MULTILINE)
    assert sorted(headings) == sorted(model.__name__ for model in OUR_MODELS)
