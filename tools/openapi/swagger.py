"""Operations of Swagger 2 in the shape of OpenAPI 3. References stay: they are followed in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tools.openapi.document import Document
from tools.openapi.faults import Unservable
from tools.openapi.media import FORM, JSON, MULTIPART, bare, preferred

# How lists are written, as style and explode.
_FORMATS: Final[Mapping[str, tuple[str, bool]]] = {
    "csv": ("", False),
    "ssv": ("spaceDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
_NOT_OF_THE_SCHEMA: Final = frozenset(
    {"name", "in", "required", "collectionFormat", "allowEmptyValue", "schema"}
)


def split(
    parameters: Iterable[Mapping[str, Any]], consumes: list[str]
) -> tuple[list[Mapping[str, Any]], Mapping[str, Any] | None]:
    """Parameters proper, and the request body that the others make."""
    proper: list[Mapping[str, Any]] = []
    fields: list[Mapping[str, Any]] = []
    body: Mapping[str, Any] | None = None
    for parameter in parameters:
        if parameter["in"] == "body":
            body = parameter
        elif parameter["in"] == "formData":
            fields.append(parameter)
        else:
            proper.append(_modern(parameter))
    if body is not None:
        types = consumes or [JSON]
        media = {"schema": body.get("schema", {})}
        required = body.get("required") is True
        whole = {"description": body.get("description"), "required": required}
        return proper, {**whole, "content": {preferred(types) or types[0]: media}}
    return proper, _form(fields, consumes) if fields else None


def _modern(parameter: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = ("name", "in", "required", "description", "deprecated")
    modern = {key: parameter[key] for key in kept if key in parameter}
    modern["schema"] = _schema(parameter)
    if parameter.get("type") == "array":
        style, explode = _format(parameter)
        if style and parameter["in"] == "query":
            modern["style"] = style
        modern["explode"] = explode
    return modern


def _format(parameter: Mapping[str, Any]) -> tuple[str, bool]:
    stated = str(parameter.get("collectionFormat", "csv"))
    if stated not in _FORMATS:
        raise Unservable(
            f"The list {parameter['name']} is written as {stated[:20]}, which is not supported."
        )
    return _FORMATS[stated]


def _schema(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of the value beside the parameter itself."""
    if isinstance(parameter.get("schema"), Mapping):
        return dict(parameter["schema"])
    return {key: value for key, value in parameter.items() if key not in _NOT_OF_THE_SCHEMA}


def _form(fields: list[Mapping[str, Any]], consumes: list[str]) -> Mapping[str, Any]:
    types = [bare(one) for one in consumes]
    has_file = any(field.get("type") == "file" for field in fields)
    multipart = has_file or (MULTIPART in types and FORM not in types)
    encoding = {}
    for field in fields:
        if field.get("type") == "array":
            style, explode = _format(field)
            encoding[field["name"]] = {"style": style or "form", "explode": explode}
    required = [field["name"] for field in fields if field.get("required") is True]
    schema = {
        "type": "object",
        "properties": {field["name"]: _schema(field) for field in fields},
        "required": required,
    }
    media = {"schema": schema, "encoding": encoding}
    return {"required": bool(required), "content": {MULTIPART if multipart else FORM: media}}


def responses(
    document: Document, stated: Mapping[str, Any], produces: list[str]
) -> Mapping[str, Any]:
    """Responses with `content`; one that cannot be read has none."""
    modern: dict[str, Any] = {}
    for status, node in stated.items():
        try:
            response = document.resolved(node, "A response")
        except Unservable:
            continue
        schema = response.get("schema")
        media = {"schema": schema} if isinstance(schema, Mapping) else {}
        types = produces or ([JSON] if media else [])
        modern[str(status)] = {"content": dict.fromkeys(types, media)}
    return modern
