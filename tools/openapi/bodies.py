"""Request bodies as arguments: the fields of an object each, or the whole as `body`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.openapi.faults import Unservable
from tools.openapi.flattening import Fields, fields_of
from tools.openapi.media import (
    FORM,
    MULTIPART,
    bare,
    is_file,
    is_json,
    is_media_type,
    preferred,
    sendable,
)
from tools.openapi.parts import Gathered, described
from tools.operations import FIELD_STYLES, Place

MOST_FIELDS: Final = 40
_NO_BODY: Final = frozenset({"HEAD", "TRACE"})


def gather(gathered: Gathered, method: str, body: Mapping[str, Any] | None) -> None:
    """Add what the request body `body` asks for.

    Raises:
        Unservable: it cannot be sent.
    """
    content = body.get("content") if body is not None else None
    if body is None or not isinstance(content, Mapping) or not content:
        return
    required = body.get("required") is True
    media_type = preferred(content)
    if not media_type:
        _refuse_or_leave_out(gathered, content, required=required)
        return
    if method in _NO_BODY:
        gathered.note(f"The body was left out: {method} has none.")
        return
    gathered.body_type = sendable(media_type)
    media = content[media_type] if isinstance(content[media_type], Mapping) else {}
    schema = gathered.clean(media.get("schema", media.get("itemSchema", {})))
    if bare(media_type) in {FORM, MULTIPART}:
        _form(gathered, schema, media, required=required)
    elif is_json(media_type):
        _json(gathered, schema, body, required=required)
    else:
        text = schema if isinstance(schema, Mapping) and schema.get("type") == "string" else {}
        whole = described({**text, "type": "string"}, body.get("description"))
        gathered.add("body", Place.BODY, whole, required=required)


def _refuse_or_leave_out(gathered: Gathered, content: Mapping[str, Any], *, required: bool) -> None:
    offered = ", ".join(one[:60] for one in list(content)[:3] if one) or "of a type without a name"
    if required:
        raise Unservable(
            f"Its body must be {offered}; only JSON, forms and plain text can be sent."
        )
    gathered.note(f"The body was left out: it must be {offered}, which cannot be sent.")


def _json(gathered: Gathered, schema: Any, body: Mapping[str, Any], *, required: bool) -> None:
    fields = fields_of(schema, gathered.definitions)
    # Fields that must be there if there is a body at all cannot be told apart from it.
    open_choice = not required and fields is not None and bool(fields.required)
    if (
        fields is None
        or open_choice
        or fields.extra
        or not 0 < len(fields.properties) <= MOST_FIELDS
    ):
        whole = described(schema, body.get("description"))
        gathered.add("body", Place.BODY, whole, required=required)
        return
    for name, field in fields.properties.items():
        gathered.add(name, Place.FIELD, field, required=name in fields.required)


def _form(gathered: Gathered, schema: Any, media: Mapping[str, Any], *, required: bool) -> None:
    fields = fields_of(schema, gathered.definitions)
    if fields is None:
        if required:
            raise Unservable(
                "The fields of its form are not described. Describe them as an object."
            )
        gathered.note("The form was left out: its fields are not described.")
        gathered.body_type = ""
        return
    if not fields.properties:
        gathered.body_type = ""
    stated = media.get("encoding")
    encoding = stated if isinstance(stated, Mapping) else {}
    for name, field in fields.properties.items():
        if is_file(gathered.definitions.behind(field)):
            _leave_out_file(gathered, name, fields)
            continue
        must = required and name in fields.required
        gathered.add(name, Place.FIELD, field, required=must, **_encoded(encoding.get(name)))


def _leave_out_file(gathered: Gathered, name: str, fields: Fields) -> None:
    if name in fields.required:
        raise Unservable(
            f"It needs the bytes of a file as {name[:60]}; files cannot be sent by a tool."
        )
    gathered.note(f"The field {name[:60]} was left out: files cannot be sent by a tool.")


def _encoded(stated: Any) -> dict[str, Any]:
    """How one field of a form is written."""
    if not isinstance(stated, Mapping):
        return {}
    written: dict[str, Any] = {}
    if stated.get("style") in FIELD_STYLES:
        written["style"] = stated["style"]
    if isinstance(stated.get("explode"), bool):
        written["explode"] = stated["explode"]
    kind = stated.get("contentType")
    if is_media_type(kind) and not written and "," not in kind and "*" not in kind:
        written["media_type"] = kind
    return written
