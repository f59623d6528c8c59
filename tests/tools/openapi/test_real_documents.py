"""Documents of real APIs: every operation becomes a sound tool or is refused with a reason."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping

import pytest

from tests.tools.openapi.real_documents import DOCUMENTS, real_text
from tools.models.http_rules import operation_faults
from tools.openapi import Imported, ImportedOperation, diff, operations, read_document
from tools.openapi.document import Document
from tools.operations import STYLES, Place
from tools.schemas import compile_schema, object_schema_faults

METHODS = frozenset({"get", "head", "post", "put", "patch", "delete", "options", "trace"})
ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


@pytest.fixture(scope="module")
def read() -> Mapping[str, Imported]:
    return {name: operations(read_document(real_text(name)), prefix="real_") for name in DOCUMENTS}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_expected_numbers_are_imported_and_refused(
    name: str, read: Mapping[str, Imported]
) -> None:
    found = read[name]
    assert (len(found.operations), len(found.refused)) == (
        DOCUMENTS[name].imported,
        DOCUMENTS[name].refused,
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_operation_is_dropped_without_a_word(name: str, read: Mapping[str, Imported]) -> None:
    paths = read_document(real_text(name)).root["paths"]
    stated = {f"{one.upper()} {path}" for path in paths for one in paths[path] if one in METHODS}
    told = [*(tool.key for tool in read[name].operations), *(one.key for one in read[name].refused)]
    assert sorted(told) == sorted(stated)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_is_a_sound_tool(name: str, read: Mapping[str, Imported]) -> None:
    # S4-003, S4-004, F4-02
    tools = read[name].operations
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools:
        assert tool.name.startswith("real_")
        assert tool.name.isidentifier()
        assert not keyword.iskeyword(tool.name)
        assert len(tool.name) <= 64
        assert 10 <= len(tool.description) <= 1000
        assert object_schema_faults(tool.input_schema) == []
        if tool.output_schema is not None:
            compile_schema(tool.output_schema)
        check_parameters(tool)


def check_parameters(tool: ImportedOperation) -> None:
    """Each argument has one way into the request, and each part of the path one argument."""
    parameters = tool.operation.parameters
    assert sorted(one.argument for one in parameters) == sorted(tool.input_schema["properties"])
    assert all(ARGUMENT.fullmatch(one.argument) for one in parameters)
    in_path = {one.name for one in parameters if one.place is Place.PATH}
    assert in_path == set(re.findall(r"\{([^{}]+)\}", tool.operation.path))
    assert all(one.written_as in STYLES[one.place] for one in parameters if one.place in STYLES)
    assert ImportedOperation.from_json(tool.to_json()) == tool


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_that_is_offered_can_be_saved(
    name: str, read: Mapping[str, Imported]
) -> None:
    for tool in read[name].operations:
        found = operation_faults(tool.operation.to_json(), tool.input_schema)
        assert not any(found.values()), (tool.key, found)


def test_reasons_tell_what_to_do(read: Mapping[str, Imported]) -> None:
    reasons = {one.key: one.reason for found in read.values() for one in found.refused}
    assert "https://files.stripe.com" in reasons["POST /v1/files"]
    assert "files cannot be sent" in reasons["POST /users/{user_id}/avatar"]
    assert all(reason.endswith(".") for reason in reasons.values())


def test_credentials_of_real_documents_are_known(read: Mapping[str, Imported]) -> None:
    kinds = {name: [scheme.kind for scheme in found.security] for name, found in read.items()}
    assert kinds["stripe"] == ["basic", "bearer"]
    assert kinds["twilio"] == ["basic"]
    assert kinds["kubernetes"] == ["header"]


@pytest.mark.parametrize("name", ["github", "kubernetes", "stripe"])
def test_names_do_not_depend_on_the_order_of_a_document(
    name: str, read: Mapping[str, Imported]
) -> None:
    document = read_document(real_text(name))
    turned = dict(reversed(list(document.root["paths"].items())))
    again = operations(
        Document({**document.root, "paths": turned}, document.version), prefix="real_"
    )
    before = {tool.key: tool.name for tool in read[name].operations}
    assert {tool.key: tool.name for tool in again.operations} == before


def test_a_second_import_of_the_same_document_changes_nothing(read: Mapping[str, Imported]) -> None:
    # F4-23
    kept = {tool.key: tool.to_json() for tool in read["twilio"].operations}
    assert not diff(kept, operations(read_document(real_text("twilio")), prefix="real_"))
