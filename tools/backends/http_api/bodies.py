"""Bodies of requests: JSON, forms, multipart, and text as it is. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tools.backends.http_api.writing import (
    Pairs,
    Unwritable,
    as_json,
    deep,
    encoded,
    plain,
    query_pairs,
)
from tools.operations import Operation, Parameter, Place

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"


def write_body(operation: Operation, arguments: Mapping[str, Any]) -> tuple[str, bytes] | None:
    """The content type and the bytes, or None for a request without a body.

    Raises:
        Unwritable: the arguments have no form in this type.
    """
    parameters = [
        one
        for one in operation.parameters
        if one.place in {Place.BODY, Place.FIELD} and one.argument in arguments
    ]
    content_type = operation.body_type or JSON
    kind = content_type.partition(";")[0].strip().lower()
    is_json = kind == JSON or kind.endswith("+json")
    if not parameters and not operation.body and not (is_json and _has_fields(operation)):
        return None
    value = _value(operation, parameters, arguments)
    if is_json:
        return content_type, _bytes(as_json(value))
    if kind == FORM:
        return FORM, "&".join(f"{key}={one}" for key, one in _form(value, parameters)).encode()
    if kind == MULTIPART:
        return _multipart(_fields(value))
    return _text_type(content_type), _bytes(value if isinstance(value, str) else as_json(value))


def _has_fields(operation: Operation) -> bool:
    """Whether the body is an object: without any of its fields it is an empty one, not none."""
    return any(one.place is Place.FIELD for one in operation.parameters)


def _value(
    operation: Operation, parameters: Sequence[Parameter], arguments: Mapping[str, Any]
) -> Any:
    """The whole body: what is sent always, then the arguments."""
    body: dict[str, Any] = dict(operation.body)
    for parameter in parameters:
        given = arguments[parameter.argument]
        if parameter.place is Place.FIELD:
            body[parameter.name] = given
        elif isinstance(given, Mapping):
            body = {**body, **given}
        else:
            return given
    return body


def _fields(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Unwritable("an object, whose keys are the fields of a form")
    return value


def _form(value: Any, parameters: Sequence[Parameter]) -> Pairs:
    """Fields as a browser would send them: lists repeated, objects as JSON unless a style is given."""
    given = [one for one in parameters if one.place is Place.FIELD]
    styles = {one.name: one for one in given if one.style}
    as_text = {one.name for one in given if one.media_type.endswith("json")}
    pairs: Pairs = []
    for key, one in _fields(value).items():
        if one is None:
            continue
        style = styles.get(key)
        if style is not None and style.written_as == "deepObject":
            pairs += [(encoded(name), encoded(single)) for name, single in deep(key, one)]
        elif style is not None:
            pairs += query_pairs(style, one)
        elif key in as_text:
            pairs.append((encoded(key), encoded(as_json(one))))
        elif isinstance(one, list | tuple):
            pairs += [(encoded(key), encoded(single)) for single in one if single is not None]
        else:
            pairs.append((encoded(key), encoded(one)))
    return pairs


def _multipart(fields: Mapping[str, Any]) -> tuple[str, bytes]:
    parts = [
        (_part_head(key, one), _bytes(plain(one)))
        for key, value in fields.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        if one is not None
    ]
    # Made of the contents, so that it cannot be among them by design of whoever wrote them.
    digest = hashlib.sha256()
    for head, content in parts:
        digest.update(head + content)
    boundary = f"part-{digest.hexdigest()}".encode()
    body = b"".join(
        b"--%b\r\n%b\r\n\r\n%b\r\n" % (boundary, head, content) for head, content in parts
    )
    return f"{MULTIPART}; boundary={boundary.decode()}", body + b"--%b--\r\n" % boundary


def _part_head(name: str, value: Any) -> bytes:
    quoted = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    head = f'Content-Disposition: form-data; name="{quoted}"'
    if isinstance(value, Mapping | list | tuple):
        head += f"\r\nContent-Type: {JSON}"
    return _bytes(head)


def _text_type(content_type: str) -> str:
    if content_type.startswith("text/") and "charset" not in content_type.lower():
        return f"{content_type}; charset=utf-8"
    return content_type


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as fault:
        raise Unwritable("text without halves of characters") from fault
