"""A prompt with its arguments filled in, and the content of a resource, as MCP answers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.contracts import PromptArgument, PromptSpec, ResourceSpec
from tools.errors import ErrorDetails, InvalidArguments, UpstreamFailed
from tools.offerings import NotAnAddress, TooLong, expand, render_messages
from tools.schemas import shown

# The protocol allows no more at once.
MOST_VALUES: Final = 100
# A placeholder may stand in many places: what one argument costs is bounded by the whole.
LONGEST_RENDERED: Final = 4 * 1024 * 1024


def render_prompt(spec: PromptSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The messages of `spec` with `arguments` in place; optional ones left out become nothing.

    Raises:
        InvalidArguments: what they give is too long, or no address where one is needed.
    """
    try:
        messages = render_messages(spec.messages, arguments, LONGEST_RENDERED)
    except TooLong:
        raise _too_long("arguments") from None
    except NotAnAddress as fault:
        raise InvalidArguments(
            "Invalid parameter: arguments",
            ErrorDetails(
                parameter="arguments",
                value=shown(str(fault)),
                expected="an absolute URI",
                suggestion="Give an address with a scheme, such as docs://guide",
            ),
        ) from None
    about = {"description": spec.description} if spec.description else {}
    return {**about, "messages": messages}


def render_resource(spec: ResourceSpec, uri: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """The content of `spec` as it is read at `uri`.

    Raises:
        InvalidArguments: a variable makes too long an answer.
    """
    content: dict[str, Any] = {"uri": uri}
    if spec.mime_type:
        content["mimeType"] = spec.mime_type
    if spec.blob:
        return {**content, "blob": spec.blob}
    if not spec.is_template:
        return {**content, "text": spec.text}
    try:
        return {**content, "text": expand(spec.text, variables, LONGEST_RENDERED)}
    except TooLong:
        raise _too_long("uri") from None


def check_arguments(spec: PromptSpec, arguments: Mapping[str, Any]) -> None:
    """Hold `arguments` to what the prompt takes.

    Raises:
        InvalidArguments: one is missing, not known or no text.
    """
    known = {argument.name: argument for argument in spec.arguments}
    for name, value in arguments.items():
        if name not in known:
            raise _unknown(spec, name)
        if not isinstance(value, str):
            raise InvalidArguments(
                f"Invalid parameter: {name}",
                ErrorDetails(
                    parameter=name,
                    value=shown(value),
                    expected="a text",
                    suggestion=f"Send {name} as a string",
                ),
            )
    for argument in spec.arguments:
        if argument.required and not arguments.get(argument.name):
            raise _missing(argument)


def upstream_prompt(result: Mapping[str, Any]) -> dict[str, Any]:
    """The prompt that an upstream server gave.

    Raises:
        UpstreamFailed: it gave something else.
    """
    messages = result.get("messages")
    if not isinstance(messages, list):
        raise UpstreamFailed("The server of this prompt gave an answer that cannot be understood")
    about = result.get("description")
    return {**({"description": about} if isinstance(about, str) else {}), "messages": messages}


def upstream_contents(result: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The contents that an upstream server gave.

    Raises:
        UpstreamFailed: it gave something else.
    """
    contents = result.get("contents")
    if not isinstance(contents, list) or not all(isinstance(one, dict) for one in contents):
        raise UpstreamFailed("The server of this resource gave an answer that cannot be understood")
    return tuple(contents)


def upstream_completion(result: Mapping[str, Any]) -> dict[str, Any]:
    """The values that an upstream server suggested; none when it suggests nothing."""
    found = result.get("completion")
    found = found if isinstance(found, Mapping) else {}
    listed = found.get("values")
    values = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    total = found.get("total")
    total = total if type(total) is int and total >= len(values) else len(values)
    values = values[:MOST_VALUES]
    more = found.get("hasMore") is True or total > len(values)
    return {"values": values, "total": total, "hasMore": more}


def _missing(argument: PromptArgument) -> InvalidArguments:
    about = f": {argument.description}" if argument.description else ""
    return InvalidArguments(
        f"Invalid parameter: {argument.name}",
        ErrorDetails(
            parameter=argument.name,
            expected="a text that is not empty",
            suggestion=f"Send {argument.name}{about}",
            available=argument.choices or None,
        ),
    )


def _unknown(spec: PromptSpec, name: str) -> InvalidArguments:
    names = tuple(argument.name for argument in spec.arguments)
    return InvalidArguments(
        f"Invalid parameter: {name[:100]}",
        ErrorDetails(
            parameter=name[:100],
            expected=f"only {', '.join(names)}" if names else "no arguments",
            suggestion=f"Leave out {name[:100]}; {spec.name} does not take it",
            available=names or None,
        ),
    )


def _too_long(parameter: str) -> InvalidArguments:
    return InvalidArguments(
        f"Invalid parameter: {parameter}",
        ErrorDetails(
            parameter=parameter,
            expected=f"values that give at most {LONGEST_RENDERED} characters",
            suggestion="Send shorter values",
        ),
    )
