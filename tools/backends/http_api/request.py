"""Arguments to a request: the path, the query, headers, cookies and the body of one operation. Pure.

An argument can only ever fill its place. The path in particular keeps its shape: separators in a value
are encoded, and values that servers would read as a step to another folder are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from tools.backends.http_api.bodies import write_body
from tools.backends.http_api.outgoing import BadAddress, Outgoing, split_address
from tools.backends.http_api.writing import (
    Pairs,
    Unwritable,
    checked_header,
    cookie_pairs,
    encoded,
    header_text,
    path_text,
    query_pairs,
)
from tools.contracts import CallContext
from tools.errors import ErrorDetails, ExecutionFailed, InvalidArguments
from tools.operations import Operation, Parameter, Place, Service
from tools.tracing import without_baggage

_T = TypeVar("_T")
_PLACEHOLDER: Final = re.compile(r"\{([^{}/]+)\}")
_STEP: Final = re.compile(r"(?:^|[/\\])\.{1,2}(?:$|[/\\;])")
_DECODINGS: Final = 4
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# What belongs to the connection, the body or the credentials is never for arguments to say.
_NOT_FOR_ARGUMENTS: Final = frozenset(
    [
        "host",
        "content-length",
        "content-type",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "authorization",
        "proxy-authorization",
        "proxy-connection",
        "cookie",
        "accept-encoding",
    ]
)
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
USER_AGENT: Final = "mcp-control-plane"


def told_of(context: CallContext) -> dict[str, str]:
    """The headers that tell an API which call it serves."""
    return {"X-Request-ID": str(context.request_id), **without_baggage(context.trace)}


def build(
    service: Service,
    operation: Operation,
    arguments: Mapping[str, Any],
    told: Mapping[str, str] | None = None,
) -> Outgoing:
    """The request that `arguments` make of `operation`, without credentials.

    `told` are headers to send unless the service, the operation or an argument has its own.

    Raises:
        InvalidArguments: an argument is missing or has no form in its place.
        ExecutionFailed: the service or the operation is not configured soundly.
    """
    try:
        origin, base = split_address(service.base_url)
    except BadAddress as fault:
        raise misconfigured(service, f"its address cannot be used, {fault}") from None
    template, _, fixed = operation.path.partition("?")
    path = base.path.rstrip("/") + _path("/" + template.lstrip("/"), operation, arguments)
    query = "&".join(part for part in (base.query, fixed, _query(operation, arguments)) if part)
    headers = _headers(service, operation, arguments, told or {})
    written = _written("body", partial(write_body, operation, arguments))
    if written is not None:
        headers["Content-Type"] = written[0]
    empty = b"" if operation.method in _WITH_BODY else None
    target = percent_encoded(path) + (f"?{percent_encoded(query)}" if query else "")
    return Outgoing(
        method=operation.method,
        origin=origin,
        template=template,
        target=target,
        headers=headers,
        body=empty if written is None else written[1],
        public=f"{origin}{target}",
    )


def misconfigured(service: Service, reason: str) -> ExecutionFailed:
    """The failure of a service that no call can use as it is."""
    return ExecutionFailed(
        f"The API {service.slug} cannot be called: {reason}",
        ErrorDetails(suggestion="Tell the operator to correct the settings of this API"),
    )


def _path(template: str, operation: Operation, arguments: Mapping[str, Any]) -> str:
    parameters = {one.name: one for one in operation.parameters if one.place is Place.PATH}
    # Text and names of parameters in turn.
    pieces = _PLACEHOLDER.split(template)
    path, argument = percent_encoded(pieces[0]), ""
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        parameter = parameters.get(name) or Parameter(name, name, Place.PATH)
        argument, value = parameter.argument, arguments.get(parameter.argument)
        path += _written(argument, partial(_path_value, parameter, value)) + percent_encoded(text)
    # Two harmless values side by side can make a step.
    if argument and _STEP.search(unquote(path)):
        raise invalid(argument, "a value that makes no step to another folder")
    return path


def _path_value(parameter: Parameter, value: Any) -> str:
    if value is None or value in ("", [], {}):
        raise Unwritable("a value that is not empty: it is a part of the path")
    text = path_text(parameter, value)
    form = text
    # Servers and what stands before them may each decode once.
    for _ in range(_DECODINGS):
        form = unquote(form)
        if _STEP.search(form) or "\x00" in form:
            raise Unwritable("a value without steps to other folders")
    return text


def _query(operation: Operation, arguments: Mapping[str, Any]) -> str:
    """What is always sent and the arguments, which win."""
    pairs: Pairs = []
    for parameter in operation.parameters:
        if parameter.place is Place.QUERY and parameter.argument in arguments:
            pairs += _of(parameter, arguments, query_pairs)
    given = {key for key, _ in pairs}
    fixed: Pairs = []
    for name, value in operation.query.items():
        if encoded(name) not in given:
            fixed += query_pairs(Parameter(name, name, Place.QUERY), value)
    return "&".join(f"{key}={value}" for key, value in fixed + pairs)


def _headers(
    service: Service,
    operation: Operation,
    arguments: Mapping[str, Any],
    told: Mapping[str, str],
) -> dict[str, str]:
    """By name as first written; a later one replaces an earlier of the same name."""
    headers = {"User-Agent": USER_AGENT, "Accept": operation.accept or "*/*", **told}
    try:
        for name, value in (*service.headers.items(), *operation.headers.items()):
            put_header(headers, name, checked_header(value))
    except Unwritable:
        raise misconfigured(service, "one of its headers cannot be sent") from None
    cookies: Pairs = []
    for parameter in operation.parameters:
        if arguments.get(parameter.argument) is None:
            continue
        if parameter.place is Place.COOKIE:
            cookies += _of(parameter, arguments, cookie_pairs)
        elif parameter.place is Place.HEADER and parameter.name.lower() not in _NOT_FOR_ARGUMENTS:
            put_header(headers, parameter.name, _of(parameter, arguments, header_text))
    if cookies:
        add_cookies(headers, cookies)
    return headers


def put_header(headers: dict[str, str], name: str, value: str) -> None:
    """Set a header, whatever the case of its name. Raises Unwritable for what is no name."""
    if not _HEADER_NAME.fullmatch(name):
        raise Unwritable("the name of a header")
    for known in [one for one in headers if one.lower() == name.lower()]:
        del headers[known]
    headers[name] = value


def add_cookies(headers: dict[str, str], pairs: Pairs) -> None:
    """Send these cookies besides those that are sent already."""
    known = next((value for name, value in headers.items() if name.lower() == "cookie"), "")
    added = "; ".join(f"{key}={value}" for key, value in pairs)
    put_header(headers, "Cookie", f"{known}; {added}" if known else added)


def _of(
    parameter: Parameter,
    arguments: Mapping[str, Any],
    write: Callable[[Parameter, Any], _T],
) -> _T:
    value = arguments[parameter.argument]
    return _written(parameter.argument, partial(write, parameter, value))


def _written(argument: str, write: Callable[[], _T]) -> _T:
    try:
        return write()
    except Unwritable as fault:
        raise invalid(argument, str(fault)) from None


def invalid(argument: str, expected: str) -> InvalidArguments:
    """The failure of one argument that cannot be sent."""
    return InvalidArguments(
        f"Invalid parameter: {argument}",
        ErrorDetails(
            parameter=argument,
            expected=expected,
            suggestion=f"Give {argument} {expected}",
        ),
    )


def percent_encoded(text: str | bytes) -> str:
    """An address or a part of it as somebody wrote it, with what may not stand in one encoded."""
    return quote(text, safe="/:@!$&'()*+,;=~%?[]{}|-._")
