"""docs/reference/settings.md and service-configuration.md list every setting as the code has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.env import PROJECT_DIR, SERVICE_OVERRIDES, VARIABLES
from tests.project.pages import REFERENCE, fenced, names, read, rows, section
from tools.conf import KEYS, ConfigurationFault, ServiceSettings, parse_document, to_document
from tools.services.apply_config import read_document

SETTINGS = read(REFERENCE / "settings.md")
CONFIGURATION = read(REFERENCE / "service-configuration.md")
DEPLOYMENT_ROWS = {names(row[0])[0]: row for row in rows(section(SETTINGS, "## Deployment"))}
OVERRIDE_ROWS = {names(row[0])[0]: row for row in rows(section(SETTINGS, "## Service overrides"))}
KEY_ROWS = {names(row[0])[0]: row for row in rows(CONFIGURATION)}


def shown(value: Any) -> str:
    """A default as the pages write it."""
    if value in ("", (), {}):
        return "unset"
    if isinstance(value, Path):
        return f"`{value.relative_to(PROJECT_DIR)}` in the checkout"
    text = ",".join(value) if isinstance(value, tuple) else str(value)
    return f"`{text.lower() if isinstance(value, bool) else text}`"


def test_every_variable_is_listed_in_the_order_of_the_code() -> None:
    assert list(DEPLOYMENT_ROWS) == [variable.name for variable in VARIABLES]
    assert list(OVERRIDE_ROWS) == [name for name, _ in SERVICE_OVERRIDES]


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: str(variable.name))
def test_default_and_meaning_of_a_variable_are_as_in_the_code(variable: Any) -> None:
    _, _, default, meaning = DEPLOYMENT_ROWS[variable.name]
    assert default == shown(variable.default)
    assert meaning == variable.help


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: str(variable.name))
def test_documented_range_of_a_variable_holds_at_its_edges(variable: Any) -> None:
    span = re.search(r"whole number, (\d+) to (\d+)", DEPLOYMENT_ROWS[variable.name][1])
    if span is None:
        assert not isinstance(variable.default, int) or isinstance(variable.default, bool)
        return
    lowest, highest = int(span[1]), int(span[2])
    assert holds_exactly(lambda number: variable.parse(str(number)), lowest, highest)


@pytest.mark.parametrize(("name", "help"), SERVICE_OVERRIDES)
def test_an_override_names_its_key_default_and_meaning(name: str, help: str) -> None:
    _, key, default, meaning = OVERRIDE_ROWS[name]
    path = name.lower().replace("__", ".", 1)
    assert key == f"`{path}`"
    assert default == shown(getattr(ServiceSettings(), path.replace(".", "_")))
    assert meaning == help


def test_every_key_of_the_document_is_listed_and_can_be_overridden() -> None:
    paths = [key.path for key in KEYS]
    assert list(KEY_ROWS) == [*paths, "dependencies"]
    assert {name.lower().replace("__", ".", 1) for name, _ in SERVICE_OVERRIDES} == set(paths)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: str(key.path))
def test_allowed_values_and_default_of_a_key_are_as_in_the_code(key: Any) -> None:
    _, allowed, default, *_ = KEY_ROWS[key.path]
    value = getattr(ServiceSettings(), key.attribute)
    assert default == ("empty" if value == () else shown(value))
    assert ("required" in allowed) is key.required
    if span := re.match(r"(\d+) to (\d+)", allowed):
        assert holds_exactly(key.check, int(span[1]), int(span[2]))
    elif least := re.match(r"(\d+) and more", allowed):
        assert holds_exactly(key.check, int(least[1]), None)
    else:
        assert not isinstance(value, int) or isinstance(value, bool)


def test_the_example_is_a_document_of_defaults_that_can_be_applied() -> None:
    example = read_document(fenced(CONFIGURATION, "yaml")[0])
    settings = parse_document(example)
    assert {key.path for key in KEYS} == {
        f"{name}.{key}" for name, keys in example.items() if name != "dependencies" for key in keys
    }
    assert to_document(settings) == {
        **to_document(ServiceSettings()),
        "dependencies": example["dependencies"],
    }


def test_the_example_of_the_how_to_can_be_applied() -> None:
    page = read(REFERENCE.parent / "how-to" / "configure-a-service.md")
    example = read_document(fenced(page, "yaml")[0])
    assert parse_document(example).server_timeout == 60
    with pytest.raises(ConfigurationFault):
        parse_document({**example, "foo": 1})


def holds_exactly(check: Callable[[int], Any], lowest: int, highest: int | None) -> bool:
    """Whether `check` takes both edges and nothing just beyond them."""
    assert check(lowest) == lowest
    with pytest.raises(ValueError):  # noqa: PT011 - which text is told is tested elsewhere
        check(lowest - 1)
    if highest is not None:
        assert check(highest) == highest
        with pytest.raises(ValueError):  # noqa: PT011
            check(highest + 1)
    return True
