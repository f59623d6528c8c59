"""What the suite expects in the catalogue: tools, prompts and resources of fixed names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.conformance.media import PNG
from tests.factories import make_tool
from tools.models import Prompt, Resource

_TEXT: Final = {"type": "string"}
_JSON_SCHEMA: Final = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": _TEXT, "city": _TEXT},
        }
    },
    "properties": {
        "name": _TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": _TEXT,
        "email": _TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
_NO_ARGUMENTS: Final = (
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_reconnection",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
)
_WITH_ARGUMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "json_schema_2020_12_tool": _JSON_SCHEMA,
    "test_sampling": {"type": "object", "properties": {"prompt": _TEXT}, "required": ["prompt"]},
    "test_elicitation": {
        "type": "object",
        "properties": {"message": _TEXT},
        "required": ["message"],
    },
    "greet": {"type": "object", "properties": {"name": _TEXT}, "required": ["name"]},
    "test_custom_header": {
        "type": "object",
        "properties": {"region": {**_TEXT, "x-mcp-header": "Region"}},
        "required": ["region"],
    },
}
_NOTHING: Final = {"type": "object", "properties": {}}
_LONG: Final[Mapping[str, Mapping[str, Any]]] = {
    "slow_compute": {
        "type": "object",
        "properties": {"seconds": {"type": "number"}, "label": _TEXT},
    },
    "failing_job": _NOTHING,
    "protocol_error_job": _NOTHING,
    "confirm_delete": {"type": "object", "properties": {"filename": _TEXT}},
    "multi_input": _NOTHING,
    "test_tool_with_task": {"type": "object", "properties": {"name": _TEXT}},
}
_ONLY_AS_TASKS: Final = frozenset({"failing_job", "test_tool_with_task"})


def fill_catalogue() -> None:
    """Save every row the suite asks for."""
    for name in _NO_ARGUMENTS:
        make_tool(name=name, handler=name, description=f"Fixture of the suite: {name}.")
    for name, schema in _WITH_ARGUMENTS.items():
        make_tool(
            name=name,
            handler=name,
            description=f"Fixture of the suite: {name}.",
            input_schema=dict(schema),
        )
    for name, schema in _LONG.items():
        make_tool(
            name=name,
            handler=name,
            description=f"Fixture of the suite: {name}.",
            input_schema=dict(schema),
            long_running=True,
            timeout_seconds=60,
            metadata={"task_required": True} if name in _ONLY_AS_TASKS else {},
        )
    _prompts()
    _resources()


def _prompts() -> None:
    image = {"type": "image", "data": PNG, "mimeType": "image/png"}
    embedded = {"uri": "{resourceUri}", "mimeType": "text/plain", "text": "Embedded for testing."}
    _prompt("test_simple_prompt", [], _said("This is a simple prompt for testing."))
    _prompt(
        "test_prompt_with_arguments",
        ["arg1", "arg2"],
        _said("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"),
    )
    _prompt(
        "test_prompt_with_embedded_resource",
        ["resourceUri"],
        {"role": "user", "content": {"type": "resource", "resource": embedded}},
        _said("Please process the embedded resource above."),
    )
    _prompt(
        "test_prompt_with_image",
        [],
        {"role": "user", "content": image},
        _said("Please analyze the image above."),
    )
    _prompt("test_input_required_result_prompt", [], _said("Asks back first."))


def _prompt(name: str, arguments: list[str], *messages: Mapping[str, Any]) -> None:
    Prompt(
        name=name,
        description=f"Fixture of the suite: {name}.",
        arguments=[{"name": argument, "required": True} for argument in arguments],
        messages=list(messages),
    ).save()


def _said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": {"type": "text", "text": text}}


_RESOURCES: Final[Mapping[str, Mapping[str, Any]]] = {
    "test://static-text": {
        "mime_type": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mime_type": "image/png", "blob": PNG},
    "test://watched-resource": {"mime_type": "text/plain", "text": "Watched."},
    "test://template/{id}/data": {
        "is_template": True,
        "mime_type": "application/json",
        "text": '{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}',
    },
}


def _resources() -> None:
    for uri, values in _RESOURCES.items():
        name = uri.removeprefix("test://").replace("/", "-")
        description = f"Fixture of the suite: {name}."
        Resource(uri=uri, name=name, description=description, **values).save()
