"""Commands of stdio servers, as the environment lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from controlplane.env import EnvironmentFault, read_environment


def test_commands_are_lists_texts_or_objects() -> None:
    # S2-014
    read = read_environment(
        {
            "UPSTREAM_COMMANDS": """{
                "files": ["mcp-files", "--read-only", "/data dir"],
                "todo.1": "uvx 'todo server' --quiet",
                "full": {"command": "run", "environment": ["API_KEY"], "directory": "~/x"}
            }"""
        }
    )
    plain: dict[str, object] = {"environment": [], "directory": None}
    assert read.upstream_commands == {
        "files": {"command": ["mcp-files", "--read-only", "/data dir"], **plain},
        "todo.1": {"command": ["uvx", "todo server", "--quiet"], **plain},
        "full": {
            "command": ["run"],
            "environment": ["API_KEY"],
            "directory": str(Path.home() / "x"),
        },
    }


def test_unset_means_no_commands_and_32_children() -> None:
    read = read_environment({})
    assert (read.upstream_commands, read.upstream_max_children) == ({}, 32)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("mcp-files --read-only", "expected a JSON object such as"),
        ("[]", "expected a JSON object such as"),
        ('{"a": ', "expected a JSON object such as"),
        ('{"a b": "x"}', "expected names of letters, digits, dots, hyphens and underscores"),
        ('{"": "x"}', "expected names of letters"),
        ('{"-a": "x"}', "expected names of letters"),
        ('{"%s": "x"}' % ("a" * 65), "expected names of letters"),
        ('{"a": ""}', "expected a to be a command: a list of texts"),
        ('{"a": []}', "expected a to be a command"),
        ('{"a": [""]}', "expected a to be a command"),
        ('{"a": ["x", 1]}', "expected a to be a command"),
        ('{"a": "x \'y"}', "expected a to be a command"),
        ('{"a": 7}', "expected a to be a command"),
        ('{"a": ["x\\u0000"]}', "expected a to be a command"),
        ('{"a": {"environment": []}}', "expected a to be a command"),
        ('{"a": {"command": "x", "shell": true}}', "for a, not 'shell'"),
        (
            '{"a": {"command": "x", "environment": "PATH"}}',
            "expected environment of a to be a list",
        ),
        ('{"a": {"command": "x", "environment": ["A-B"]}}', "expected environment of a"),
        ('{"a": {"command": "x", "directory": 1}}', "expected a path as directory of a"),
    ],
)
def test_commands_that_cannot_be_run_are_told_in_plain_words(value: str, message: str) -> None:
    with pytest.raises(EnvironmentFault) as told:
        read_environment({"UPSTREAM_COMMANDS": value})
    assert "UPSTREAM_COMMANDS: expected" in str(told.value)
    assert message in str(told.value)


@pytest.mark.parametrize("value", ["-1", "10001", "many", "1.5"])
def test_a_number_of_children_outside_its_limits_is_told(value: str) -> None:
    with pytest.raises(EnvironmentFault, match="expected a whole number from 0 to 10000"):
        read_environment({"UPSTREAM_MAX_CHILDREN": value})
    assert read_environment({"UPSTREAM_MAX_CHILDREN": "0"}).upstream_max_children == 0
