"""What HTTP APIs and their operations must satisfy."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from tools.operations import FIELD_STYLES, STYLES, Operation, Place

PREFIX_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
AUTH_KINDS: Final = (
    ("none", "None"),
    ("bearer", "Bearer token"),
    ("header", "Key in a header"),
    ("query", "Key in the address"),
    ("cookie", "Key in a cookie"),
    ("basic", "Name and password"),
)
_NAMED_KEYS: Final = frozenset({"header", "query", "cookie"})
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_STYLES: Final = {**STYLES, Place.FIELD: FIELD_STYLES}


def address_faults(address: str) -> list[str]:
    """What keeps an address from being the start of requests."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as fault:
        return [f"Is not an address: {fault}."]
    if parts.scheme not in {"http", "https"} or not host or port == 0:
        return ["Must start with https:// or http:// and name a host."]
    if parts.username is not None or parts.password is not None:
        return ["Must not hold a name or a password; use the sign-in fields."]
    if parts.query or parts.fragment or "?" in address or "#" in address:
        return ["Must not have a query or a fragment; put them into operations."]
    if any(character.isspace() or not character.isprintable() for character in address):
        return ["Must not have spaces or control characters."]
    return []


def auth_faults(kind: str, name: str) -> list[str]:
    """Whether the place of a key is named, as far as the kind of sign-in needs one."""
    if kind in _NAMED_KEYS and not _TOKEN.fullmatch(name):
        return ["Name the header, parameter or cookie that carries the key."]
    return []


def header_faults(headers: Any) -> list[str]:
    """What is wrong with fixed headers."""
    if not isinstance(headers, Mapping):
        return []
    faults = []
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            faults.append(f"{name!r} is not the name of a header.")
        elif not isinstance(value, str) or not value.isprintable() or not value.isascii():
            faults.append(f"{name} must be a text of printable ASCII characters.")
        elif name.casefold() in {"host", "content-length", "transfer-encoding", "connection"}:
            faults.append(f"{name} is set by the client itself.")
    return faults


def network_faults(networks: Any) -> list[str]:
    """What is wrong with a list of networks."""
    faults = []
    for network in networks if isinstance(networks, list) else []:
        try:
            ipaddress.ip_network(network)
        except ValueError as fault:
            faults.append(f"{network!r} is not a network: {fault}.")
    return faults


def operation_faults(written: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, list[str]]:
    """What is wrong with an operation, by field."""
    try:
        operation = Operation.from_json(written)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        return {"parameters": [f"Is not understood: {fault}."]}
    return {
        "path": _path_faults(operation),
        "parameters": _parameter_faults(operation, schema),
        "headers": header_faults(operation.headers),
        "select": _select_faults(operation.select),
    }


def _path_faults(operation: Operation) -> list[str]:
    if not operation.path.startswith("/"):
        return ["Must start with /."]
    if "?" in operation.path or "#" in operation.path:
        return ["Must not have a query; name its parts under query or parameters."]
    named = set(_BRACES.findall(operation.path))
    given = {one.name for one in operation.parameters if one.place is Place.PATH}
    faults = [f"{{{name}}} has no parameter." for name in sorted(named - given)]
    return faults + [f"{name} is not in the path." for name in sorted(given - named)]


def _parameter_faults(operation: Operation, schema: Mapping[str, Any]) -> list[str]:
    faults: list[str] = []
    seen: set[str] = set()
    properties = schema.get("properties")
    for one in operation.parameters:
        if one.style and one.style not in _STYLES.get(one.place, ()):
            faults.append(f"{one.argument}: {one.style} is no style of {one.place.value}.")
        if one.argument in seen:
            faults.append(f"{one.argument} is there twice.")
        seen.add(one.argument)
        if isinstance(properties, Mapping) and one.argument not in properties:
            faults.append(f"{one.argument} is not among the tool's arguments.")
    if sum(one.place is Place.BODY for one in operation.parameters) > 1:
        faults.append("Only one argument can be the whole body.")
    return faults


def _select_faults(expression: str) -> list[str]:
    if not expression:
        return []
    # Only who writes operations needs it.
    import jmespath

    try:
        jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as fault:
        return [f"Is not a JMESPath expression: {fault}"]
    return []
