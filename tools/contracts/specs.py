"""What is offered, as the path needs it: rows of the catalogue, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from tools.contracts.times import wire_time


class ToolSource(StrEnum):
    """Where a tool's work is done; also the key of its backend in the registry."""

    BUILTIN = "builtin"
    PIPELINE = "pipeline"
    UPSTREAM = "upstream"
    HTTP_API = "http_api"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the path needs it: one row of the catalogue, checked.

    `binding` is what its backend alone needs to know; no door shows it. `mark` stands for all of the
    definition that decides an answer: what was answered under another mark is no answer of this tool.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    source: ToolSource
    handler: str
    title: str = ""
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    timeout_seconds: float = 30
    max_concurrent: int | None = None
    queue_timeout_seconds: float = 5
    cache_ttl_seconds: int | None = None
    dependency: str = ""
    requires_context_management: bool = False
    token_budget: int = 2000
    preserve_keys: tuple[str, ...] = ()
    keep_body: bool = True
    long_running: bool = False
    binding: Mapping[str, Any] = field(default_factory=dict, repr=False)
    mark: str = field(default="", repr=False)

    @property
    def behind(self) -> str:
        """What its calls are counted under beside itself: the server, API or pipeline behind it."""
        if self.dependency or self.source is not ToolSource.PIPELINE:
            return self.dependency
        return f"pipeline:{self.binding.get('pipeline') or self.name}"

    def to_http(self) -> dict[str, Any]:
        """The tool as `GET /tools` lists it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One thing a prompt asks for. `choices` are suggestions; other values are taken as well."""

    name: str
    title: str = ""
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """The argument as prompts/list shows it."""
        texts = {"title": self.title, "description": self.description}
        return {"name": self.name, **_given(texts), "required": self.required}


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt as callers get it. Texts of `messages` hold `{argument}` placeholders.

    `upstream` says which server has the messages, where that is not this one; no door shows it.
    """

    name: str
    messages: tuple[Mapping[str, Any], ...]
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    upstream: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_wire(self) -> dict[str, Any]:
        """The prompt as prompts/list shows it."""
        return {
            "name": self.name,
            **_given({"title": self.title, "description": self.description}),
            "arguments": [argument.to_wire() for argument in self.arguments],
        }


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A resource as callers get it: one text or blob (base64), or a template for many texts.

    `uri` of a template holds `{name}` for each of its `variables`, and so may its text; `choices`
    suggests values for them.
    `size` is that of the raw content in bytes; None for templates, whose texts differ, and where
    it is not known. `upstream` says which server has the content, where that is not this one.
    """

    uri: str
    name: str
    text: str = field(default="", repr=False)
    blob: str = field(default="", repr=False)
    is_template: bool = False
    title: str = ""
    description: str = ""
    mime_type: str = ""
    size: int | None = None
    audience: tuple[str, ...] = ()
    priority: float | None = None
    modified_at: datetime | None = None
    variables: tuple[str, ...] = ()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    upstream: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def annotations(self) -> dict[str, Any]:
        """Whom it is for, how much it matters and when it changed, as far as that is known."""
        known: dict[str, Any] = {"audience": list(self.audience)} if self.audience else {}
        if self.priority is not None:
            known["priority"] = self.priority
        if self.modified_at is not None:
            known["lastModified"] = wire_time(self.modified_at)
        return known

    def to_wire(self) -> dict[str, Any]:
        """The resource as resources/list or resources/templates/list shows it."""
        known = {
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "annotations": self.annotations(),
        }
        size = {} if self.size is None else {"size": self.size}
        address = "uriTemplate" if self.is_template else "uri"
        return {address: self.uri, "name": self.name, **_given(known), **size}


@dataclass(frozen=True, slots=True)
class ToolsetSpec:
    """What one toolset grants: names of tools and prompts, addresses of resources.

    With `search_only`, lists show agents the tools that find and call the others instead of them.
    """

    slug: str
    title: str = ""
    description: str = ""
    tools: frozenset[str] = frozenset()
    prompts: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    search_only: bool = False
    oauth_scope: str = ""


@dataclass(frozen=True, slots=True)
class HeldSpec:
    """Something that may not be used until somebody has looked at it: whose it is, and who saw it.

    `toolsets` are the slugs of the sets that would grant it.
    """

    server: str
    toolsets: frozenset[str] = frozenset()


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without the keys that have an empty value."""
    return {key: value for key, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools one caller may see, and the same as the bytes of `GET /tools`."""

    service: str
    version: str
    tools: tuple[ToolSpec, ...]
    encoded: bytes = field(repr=False)

    @classmethod
    def of(cls, service: str, version: str, tools: tuple[ToolSpec, ...]) -> ToolListing:
        wire = {"service": service, "version": version, "tools": [tool.to_http() for tool in tools]}
        text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"))
        return cls(service, version, tools, text.encode("utf-8"))
