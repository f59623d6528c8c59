"""Kinds of wrappers, their templates, and rendering one of them."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tools.wrappers.kinds import KINDS, VARIABLES, KindFault, WrapperTemplate, parse_kinds
from tools.wrappers.registry import ServiceEntry
from tools.wrappers.rendering import TEMPLATES, Templates, render
from tools.wrappers.tool_list import ListedTool
from tools.wrappers.wrapped import wrap_service

TOOL = ListedTool(
    "query_callers",
    "Finds the callers of a function.",
    {
        "type": "object",
        "properties": {
            "function_name": {"type": "string"},
            "max_depth": {"type": "integer", "default": 3, "minimum": 1, "maximum": 10},
        },
        "required": ["function_name"],
    },
)


def test_a_template_has_a_name_a_path_an_extension_and_variables() -> None:
    # S3-059 S3-060
    for kind in KINDS.values():
        for template in kind.templates:
            assert template.name
            assert template.template_path.endswith(".j2")
            assert (TEMPLATES / template.template_path).is_file()
            assert template.output.endswith(template.output_extension)
            assert {"tool_name", "description", "arguments", "service_url"} <= {*template.variables}


@pytest.mark.parametrize(
    "wrong",
    [
        {"template_path": "/etc/tool.j2"},
        {"template_path": "../tool.j2"},
        {"template_path": "bash/tool.sh"},
        {"output": "{stem}.py"},
        {"output": "{name}.sh"},
    ],
)
def test_a_template_that_cannot_be_used_is_refused(wrong: dict[str, str]) -> None:
    # S3-059
    values: dict[str, Any] = {
        "name": "bash",
        "template_path": "bash/tool_script.sh.j2",
        "output_extension": ".sh",
        "output": "{stem}.sh",
    }
    assert WrapperTemplate(**values).variables == VARIABLES
    with pytest.raises(ValueError, match=r"must|may"):
        WrapperTemplate(**{**values, **wrong})


def test_there_are_the_four_kinds_of_the_seed_and_one_more() -> None:
    # S3-062
    found = {kind.name: kind.templates[0].output_extension for kind in KINDS.values()}
    expected = {"bash": ".sh", "python": ".py", "cli": ".py", "skill": ".md", "typescript": ".ts"}
    assert found == expected
    assert [kind.folder for kind in KINDS.values()] == [
        *("scripts", "python", "cli", "skills", "typescript"),
    ]


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ([], list(KINDS)),
        (["scripts,skills"], ["bash", "skill"]),
        (["skill", "bash"], ["bash", "skill"]),
        (["CLI, python,"], ["python", "cli"]),
        (["ts"], ["typescript"]),
    ],
)
def test_types_are_known_by_both_spellings(written: list[str], names: list[str]) -> None:
    # F3-22
    assert [kind.name for kind in parse_kinds(written)] == names


def test_an_unknown_type_is_named_with_those_there_are() -> None:
    with pytest.raises(KindFault, match="exe: no such type; there are bash, python, cli"):
        parse_kinds(["bash,exe"])


@pytest.mark.parametrize("kind", KINDS)
def test_one_tool_is_rendered_to_text(kind: str) -> None:
    # S3-061
    template = KINDS[kind].templates[0]
    made = render(template, TOOL, "http://127.0.0.1:8001")
    assert "query_callers" in made
    assert "http://127.0.0.1:8001" in made
    if template.output_extension == ".py":
        ast.parse(made)


def test_the_definition_of_a_skill_has_the_seeds_fields() -> None:
    # F3-19
    made = json.loads(render(KINDS["skill"].templates[2], TOOL, "http://127.0.0.1:8001"))
    assert made["name"] == "query_callers"
    assert made["input_schema"] == TOOL.input_schema
    assert made["endpoint"] == "http://127.0.0.1:8001/call-tool"


@pytest.mark.parametrize("name", ["cli", "python"])
def test_an_address_stays_inside_the_text_it_stands_in(name: str) -> None:
    url = 'http://h/"""\nimport os\\'
    template = KINDS[name].templates[0]
    service = wrap_service(ServiceEntry("service", url), "", [TOOL])
    tool = None if template.per_service else service.tools[0]
    made = ast.parse(Templates().render(template, service, tool))
    plain = wrap_service(ServiceEntry("service", "http://h"), "", [TOOL])
    expected = ast.parse(Templates().render(template, plain, tool))
    assert [type(one) for one in made.body] == [type(one) for one in expected.body]
