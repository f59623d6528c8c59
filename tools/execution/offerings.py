"""Prompts and resources for the doors: who asks, what it may see, and the content.

These are no calls of tools and leave no row in the request log. Lists and completions are free;
getting a prompt and reading a resource each take one of the caller's calls per minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.contracts import Caller, Credentials, PromptSpec, ResourceSpec
from tools.errors import ErrorDetails, InvalidArguments, Stopping
from tools.execution import admission, identity
from tools.execution.federation import fetch
from tools.execution.kept import RESULT_TEMPLATE, read_kept
from tools.execution.rendering import (
    MOST_VALUES,
    check_arguments,
    render_prompt,
    render_resource,
    upstream_completion,
    upstream_contents,
    upstream_prompt,
)
from tools.execution.runtime import Runtime, serving
from tools.offerings import is_reserved
from tools.schemas import shown

PROMPT: Final = "ref/prompt"
RESOURCE: Final = "ref/resource"
COMPLETE: Final = "completion/complete"


async def list_prompts(credentials: Credentials) -> tuple[PromptSpec, ...]:
    """The prompts a caller may get, by name.

    Raises:
        ControlPlaneError: the caller is not known, or the service is starting.
    """
    runtime, caller = _known(credentials)
    return runtime.directory.visible_prompts(caller)


async def get_prompt(
    credentials: Credentials, name: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """One prompt with `arguments` filled in, as prompts/get answers: {description, messages}.

    Raises:
        PromptNotFound: there is none of that name for this caller.
        InvalidArguments: an argument is missing, not known or no text.
        RateLimited: the caller has no calls left.
    """
    runtime, caller = _reading(credentials)
    spec = runtime.directory.find_prompt(name, caller)
    check_arguments(spec, arguments)
    await admission.take_rate(caller, runtime.rate)
    if spec.upstream:
        params = {"name": spec.upstream["remote_name"], "arguments": dict(arguments)}
        return upstream_prompt(await fetch(runtime, spec.upstream, "prompts/get", params))
    return render_prompt(spec, arguments)


async def list_resources(credentials: Credentials) -> tuple[ResourceSpec, ...]:
    """The resources with an address of their own that a caller may read, by address."""
    runtime, caller = _known(credentials)
    return runtime.directory.visible_resources(caller)


async def list_resource_templates(credentials: Credentials) -> tuple[ResourceSpec, ...]:
    """The templates of addresses that a caller may read, that of kept results among them."""
    runtime, caller = _known(credentials)
    templates = (*runtime.directory.visible_templates(caller), RESULT_TEMPLATE)
    return tuple(sorted(templates, key=lambda spec: spec.uri))


async def read_resource(credentials: Credentials, uri: str) -> tuple[dict[str, Any], ...]:
    """What is at `uri`, as contents of resources/read: {uri, mimeType, text or blob}.

    Raises:
        ResourceNotFound: nothing is there for this caller.
        InvalidArguments: the query of a kept result is not understood or leads nowhere.
        RateLimited: the caller has no calls left.
    """
    runtime, caller = _reading(credentials)
    if is_reserved(uri):
        await admission.take_rate(caller, runtime.rate)
        return (await read_kept(uri, caller, runtime.kept),)
    spec, variables = runtime.directory.match_resource(uri, caller)
    await admission.take_rate(caller, runtime.rate)
    if spec.upstream:
        return upstream_contents(
            await fetch(runtime, spec.upstream, "resources/read", {"uri": uri})
        )
    return (render_resource(spec, uri, variables),)


async def complete(
    credentials: Credentials,
    ref: Mapping[str, Any],
    argument: str,
    value: str,
    known: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The suggested values of an argument that hold `value`, those that begin with it first.

    The answer is that of completion/complete: {values, total, hasMore}, with 100 values at most.

    `ref` is `{"type": "ref/prompt", "name": ...}` or `{"type": "ref/resource", "uri": ...}`, the
    latter with the address of a template. An argument without suggestions has none, unless it is one
    of an upstream server that suggests some itself; it is told the values that are `known` already.

    Raises:
        PromptNotFound, ResourceNotFound: there is nothing of that name for this caller.
        InvalidArguments: it has no such argument, or `ref` is neither.
    """
    runtime, caller = _known(credentials)
    choices, upstream = _choices(runtime, caller, ref)
    if argument not in choices:
        raise InvalidArguments(
            f"Invalid parameter: {argument[:100]}",
            ErrorDetails(
                parameter=argument[:100],
                expected=f"one of {', '.join(choices)}" if choices else "nothing to complete",
                suggestion="Complete an argument that the prompt or template has",
                available=tuple(choices) or None,
            ),
        )
    if upstream and not choices[argument]:
        asked = {"ref": _remote(ref, upstream), "argument": {"name": argument, "value": value}}
        context = {"context": {"arguments": dict(known)}} if known else {}
        return upstream_completion(await fetch(runtime, upstream, COMPLETE, {**asked, **context}))
    fitting = _fitting(value, choices[argument])
    shown_values, total = fitting[:MOST_VALUES], len(fitting)
    return {"values": shown_values, "total": total, "hasMore": total > MOST_VALUES}


def _remote(ref: Mapping[str, Any], upstream: Mapping[str, Any]) -> dict[str, Any]:
    """What `ref` names, as its server knows it."""
    key = "name" if ref.get("type") == PROMPT else "uri"
    return {"type": ref["type"], key: upstream["remote_name"]}


def _choices(
    runtime: Runtime, caller: Caller, ref: Mapping[str, Any]
) -> tuple[dict[str, tuple[str, ...]], Mapping[str, Any]]:
    """The suggestions for each argument of what `ref` names, and the server it comes from, if any."""
    if ref.get("type") == PROMPT:
        prompt = runtime.directory.find_prompt(str(ref.get("name", "")), caller)
        return {one.name: one.choices for one in prompt.arguments}, prompt.upstream
    if ref.get("type") == RESOURCE:
        uri = str(ref.get("uri", ""))
        if uri == RESULT_TEMPLATE.uri:
            return dict.fromkeys(RESULT_TEMPLATE.variables, ()), {}
        spec = runtime.directory.find_template(uri, caller)
        return {name: spec.choices.get(name, ()) for name in spec.variables}, spec.upstream
    raise InvalidArguments(
        "Invalid parameter: ref",
        ErrorDetails(
            parameter="ref",
            value=shown(ref.get("type")),
            expected=f"{PROMPT} or {RESOURCE} as type",
            suggestion="Name a prompt or a resource template",
        ),
    )


def _fitting(value: str, choices: tuple[str, ...]) -> list[str]:
    """What starts with `value`, then what has it elsewhere; capitals do not matter."""
    wanted = value.casefold()
    begin = [choice for choice in choices if choice.casefold().startswith(wanted)]
    inside = [choice for choice in choices if wanted in choice.casefold() and choice not in begin]
    return begin + inside


def _known(credentials: Credentials) -> tuple[Runtime, Caller]:
    runtime = serving()
    return runtime, identity.identify(credentials, runtime.directory.catalogue)


def _reading(credentials: Credentials) -> tuple[Runtime, Caller]:
    runtime, caller = _known(credentials)
    if runtime.stopping:
        raise Stopping
    return runtime, caller
