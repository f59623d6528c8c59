"""What makes a prompt or a resource acceptable: rules of the database, sizes, bodies, suggestions."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any, Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from tools.conf import value_faults
from tools.models.tool_rules import NAME_PATTERN
from tools.offerings import (
    MIME_PATTERN,
    PlaceholderFault,
    choices_fault,
    names_in,
    template_variables,
)

# Bodies live in the memory of every process.
LONGEST_BODY: Final = 1024 * 1024
LONGEST_BASE64: Final = (LONGEST_BODY + 2) // 3 * 4
TOO_LARGE: Final = "At most 1 MiB."
UNSTORABLE: Final = "Has a character that cannot be stored."
LONGEST_URI: Final = 500
ADDRESS_PATTERN: Final = r"^[A-Za-z][A-Za-z0-9+.-]*:\S+\Z"
LOCAL: Final = "local"
UPSTREAM: Final = "upstream"
ORIGINS: Final = ((LOCAL, "Kept here"), (UPSTREAM, "From an MCP server"))
MOST_REMOTE_ARGUMENTS: Final = 200
_ELSEWHERE: Final = Q(origin=UPSTREAM)

PROMPT_CONSTRAINTS: Final = (
    models.CheckConstraint(condition=Q(name__regex=NAME_PATTERN), name="prompt_name_is_identifier"),
    # Both, because a database may take the keys of what is not there for unknown, which passes.
    models.CheckConstraint(
        condition=_ELSEWHERE
        | Q(messages__0__isnull=False, messages__0__has_keys=["role", "content"]),
        name="prompt_has_messages",
    ),
)
RESOURCE_CONSTRAINTS: Final = (
    models.CheckConstraint(
        condition=Q(uri__regex=ADDRESS_PATTERN) & Q(LessThanOrEqual(Length("uri"), LONGEST_URI)),
        name="resource_uri_is_absolute",
    ),
    models.CheckConstraint(
        condition=~Q(uri__iregex=r"^result:"), name="resource_scheme_not_reserved"
    ),
    models.CheckConstraint(
        condition=Q(is_template=True) | ~Q(uri__regex=r"[{}]"), name="resource_uri_has_no_variables"
    ),
    models.CheckConstraint(condition=Q(name__regex=r"\S"), name="resource_name_not_blank"),
    models.CheckConstraint(
        condition=Q(mime_type="") | Q(mime_type__regex=MIME_PATTERN), name="resource_mime_type"
    ),
    models.CheckConstraint(
        condition=_ELSEWHERE & Q(text="", blob="")
        | (~Q(text="") & Q(blob=""))
        | (Q(text="") & ~Q(blob="") & Q(is_template=False)),
        name="resource_has_one_body",
    ),
    models.CheckConstraint(
        condition=Q(LessThanOrEqual(Length("text"), LONGEST_BODY))
        & Q(LessThanOrEqual(Length("blob"), LONGEST_BASE64)),
        name="resource_body_size",
    ),
    models.CheckConstraint(
        condition=Q(priority__isnull=True) | Q(priority__gte=0, priority__lte=1),
        name="resource_priority_from_0_to_1",
    ),
)


def remote_argument_faults(arguments: Any) -> list[str]:
    """Why `arguments` cannot be those of a server's prompt: any names will do, each once."""
    if not isinstance(arguments, list) or len(arguments) > MOST_REMOTE_ARGUMENTS:
        return [f"Must be a list of at most {MOST_REMOTE_ARGUMENTS} objects."]
    names = [item.get("name") if isinstance(item, dict) else None for item in arguments]
    if not all(isinstance(name, str) and name for name in names):
        return ["Each argument has a name."]
    return [] if len(set(names)) == len(names) else ["No two arguments have the same name."]


def messages_size_faults(messages: Any) -> list[str]:
    """Why `messages` are too much for one prompt; empty when they are not."""
    if value_faults(messages):
        return []
    return [TOO_LARGE] if len(json.dumps(messages)) > LONGEST_BODY else []


def body_faults(
    uri: str, text: str, blob: str, *, is_template: bool
) -> Iterator[tuple[str, list[str]]]:
    """What is wrong with the content of a resource, by field."""
    if not text and not blob:
        yield "text", ["Give a text or a blob."]
    if text and blob:
        yield "blob", ["Give either a text or a blob, not both."]
    if is_template and blob:
        yield "blob", ["The content of a template is text."]
    yield "text", _text_faults(text) or (_placeholder_faults(uri, text) if is_template else [])
    yield "blob", _blob_faults(blob)


def choices_faults(uri: str, choices: Any, *, is_template: bool) -> list[str]:
    """Why `choices` cannot suggest values for the variables of `uri`; empty when they can."""
    if not isinstance(choices, dict):
        return ['Must be an object such as {"chapter": ["1", "2"]}.']
    known = template_variables(uri) if is_template else ()
    faults = [f"{name} is not a variable of the URI." for name in choices if name not in known]
    return faults + [
        f"{name}: {fault}" for name, values in choices.items() if (fault := choices_fault(values))
    ]


def unstorable(text: str) -> bool:
    """Whether some database cannot keep `text`: it has a NUL or half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return "\0" in text


def _text_faults(text: str) -> list[str]:
    if unstorable(text):
        return [UNSTORABLE]
    return [TOO_LARGE] if len(text.encode()) > LONGEST_BODY else []


def _placeholder_faults(uri: str, text: str) -> list[str]:
    try:
        names = names_in(text)
    except PlaceholderFault as fault:
        return [str(fault)]
    known = template_variables(uri)
    return [f"{name} is not a variable of the URI." for name in names if name not in known]


def _blob_faults(blob: str) -> list[str]:
    if not blob:
        return []
    if len(blob) > LONGEST_BASE64:
        return [TOO_LARGE]
    try:
        raw = base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        return ["Must be base64."]
    return [TOO_LARGE] if len(raw) > LONGEST_BODY else []
