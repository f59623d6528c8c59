"""Parameters in path, query, headers and cookies as arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.openapi.faults import Unservable
from tools.openapi.keywords import Wrong, examples
from tools.openapi.media import JSON, is_token, preferred, sendable
from tools.openapi.parts import Gathered, described
from tools.openapi.paths import variables
from tools.openapi.texts import shortened
from tools.openapi.values import AuthScheme
from tools.operations import DEFAULT_STYLES, STYLES, Place
from tools.schemas import SchemaFault, compile_schema

LONGEST_DESCRIPTION: Final = 500
# The specification says so: they are made from media types and credentials.
_IGNORED: Final = frozenset({"accept", "content-type", "authorization"})
# They belong to the connection; an argument must not reach them.
_FORBIDDEN: Final = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "cookie", "upgrade", "te"}
    | {"trailer", "expect", "proxy-authorization", "proxy-connection", "keep-alive"}
)
_ORDER: Final = (Place.PATH, Place.QUERY, Place.HEADER, Place.COOKIE)


def gather(
    gathered: Gathered,
    path: str,
    stated: tuple[Mapping[str, Any], ...],
    auth: tuple[AuthScheme, ...],
) -> None:
    """Add the parameters `stated`, the path's first.

    Raises:
        Unservable: one of them cannot be sent.
    """
    in_path = variables(path)
    secrets = {(one.kind, one.name.lower()) for one in auth}
    wanted: dict[Place, list[Mapping[str, Any]]] = {place: [] for place in _ORDER}
    for parameter in stated:
        place = _place(gathered, parameter)
        if place is not None and _is_argument(gathered, place, parameter, in_path, secrets):
            wanted[place].append(parameter)
    known = {parameter["name"] for parameter in wanted[Place.PATH]}
    for name in in_path:
        if name not in known:
            gathered.note(f"The path names {name}, which is not described; it is taken as text.")
            wanted[Place.PATH].append({"name": name, "schema": {"type": "string"}})
    for place in _ORDER:
        for parameter in wanted[place]:
            _add(gathered, place, parameter)


def _place(gathered: Gathered, parameter: Mapping[str, Any]) -> Place | None:
    stated, name = parameter["in"], parameter["name"]
    if stated in {place.value for place in _ORDER}:
        return Place(stated)
    if parameter.get("required") is True:
        raise Unservable(
            f"The parameter {name[:60]} goes into {stated[:20]!r}, which is not supported."
        )
    gathered.note(f"The parameter {name[:60]} was left out: {stated[:20]!r} is not supported.")
    return None


def _is_argument(
    gathered: Gathered,
    place: Place,
    parameter: Mapping[str, Any],
    in_path: list[str],
    secrets: set[tuple[str, str]],
) -> bool:
    name = parameter["name"]
    if place is Place.PATH and name not in in_path:
        gathered.note(f"The parameter {name[:60]} was left out: the path does not name it.")
        return False
    if (place.value, name.lower()) in secrets:
        gathered.note(f"The parameter {name[:60]} was left out: the service's credentials fill it.")
        return False
    if place in {Place.HEADER, Place.COOKIE} and not is_token(name):
        raise Unservable(
            f"{name[:60]!r} cannot be the name of a {place.value}. Correct the document."
        )
    if place is not Place.HEADER:
        return True
    if name.lower() in _FORBIDDEN:
        gathered.note(f"The header {name[:60]} was left out: it belongs to the connection.")
    return name.lower() not in _IGNORED | _FORBIDDEN


def _add(gathered: Gathered, place: Place, parameter: Mapping[str, Any]) -> None:
    required = place is Place.PATH or parameter.get("required") is True
    stated, media_type = _schema(parameter)
    schema = _annotated(gathered.clean(stated), parameter)
    if required and isinstance(stated, Mapping) and "default" in stated:
        schema = _with_default(schema, stated["default"])
    if parameter.get("deprecated") is True and isinstance(schema, Mapping):
        schema = {**schema, "deprecated": True}
    written = {"media_type": media_type} if media_type else _written(place, parameter)
    gathered.add(parameter["name"], place, schema, required=required, **written)


def _schema(parameter: Mapping[str, Any]) -> tuple[Any, str]:
    """The schema of the value and, where it is written as a document of its own, its media type."""
    content = parameter.get("content")
    if not isinstance(content, Mapping) or not content or "schema" in parameter:
        return parameter.get("schema", {}), ""
    media_type = preferred(content)
    media = content[media_type or next(iter(content))]
    schema = media.get("schema", {}) if isinstance(media, Mapping) else {}
    return schema, sendable(media_type) or JSON


def _annotated(schema: Any, parameter: Mapping[str, Any]) -> Any:
    stated = parameter.get("description")
    text = shortened(stated, LONGEST_DESCRIPTION) if isinstance(stated, str) else ""
    if text and isinstance(schema, Mapping) and "description" in schema:
        own = str(schema["description"])
        # A default told by the schema is worth keeping beside the parameter's own words.
        text = f"{text} {own}" if own.startswith("Default: ") else text
        schema = {**schema, "description": text}
    schema = described(schema, text)
    if "example" in parameter and isinstance(schema, Mapping) and "examples" not in schema:
        try:
            schema = {**schema, "examples": examples([parameter["example"]])}
        except Wrong:
            return schema
    return schema


def _with_default(schema: Any, default: Any) -> Any:
    """A required argument may keep its default: without it the request could not be made."""
    if not isinstance(schema, Mapping) or "$ref" in str(schema):
        return schema
    try:
        fits = compile_schema(schema).is_valid(default)
    except SchemaFault:
        return schema
    return {**schema, "default": default} if fits else schema


def _written(place: Place, parameter: Mapping[str, Any]) -> dict[str, Any]:
    style = str(parameter.get("style") or "")
    style = "form" if place is Place.COOKIE and style == "cookie" else style
    if style and style not in STYLES[place]:
        raise Unservable(
            f"The parameter {parameter['name'][:60]} has the style {style[:20]}, "
            f"which is not one for {place.value}. Correct the document."
        )
    explode = parameter.get("explode")
    written: dict[str, Any] = {"style": "" if style == DEFAULT_STYLES[place] else style}
    if isinstance(explode, bool):
        written["explode"] = explode
    if parameter.get("allowReserved") is True and place is Place.QUERY:
        written["allow_reserved"] = True
    return written
