"""What the callers of one grant see of one version of the catalogue, put together once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools.contracts import PromptSpec, ResourceSpec, ToolsetSpec, ToolSource, ToolSpec
from tools.offerings import literal_length
from tools.selectors import Catalogue

# The built-ins through which agents reach the tools of a set that is only searched.
SEARCH: Final = "tool_search"
GENERIC_CALL: Final = "call_tool"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller may use; everything is in the order of the catalogue, by name or address.

    `listed` are the tools that lists show; `tools` are those that can be called. `matched` are the
    templates in the order they are tried: what fixes most of an address comes first.
    """

    tools: Mapping[str, ToolSpec]
    visible: tuple[ToolSpec, ...]
    listed: tuple[ToolSpec, ...]
    prompts: Mapping[str, PromptSpec]
    resources: Mapping[str, ResourceSpec]
    templates: tuple[ResourceSpec, ...]
    matched: tuple[ResourceSpec, ...]

    @classmethod
    def of(cls, catalogue: Catalogue, slugs: frozenset[str] | None) -> Grant:
        """What the toolsets of these slugs grant together; None grants everything."""
        sets = _sets(catalogue, slugs)
        helpers = _helpers(catalogue, SEARCH, GENERIC_CALL) if _searched(sets) else frozenset()
        callable_names = _union([item.tools for item in sets]) | helpers
        tools = {name: spec for name, spec in catalogue.tools.items() if name in callable_names}
        shown = _union([item.tools for item in sets if not item.search_only])
        shown = (shown - _helpers(catalogue, GENERIC_CALL)) | helpers
        prompts = _union([item.prompts for item in sets])
        addresses = _union([item.resources for item in sets])
        found = [item for uri, item in catalogue.resources.items() if uri in addresses]
        templates = tuple(item for item in found if item.is_template)
        return cls(
            tools=tools,
            visible=tuple(tools.values()),
            listed=tuple(spec for name, spec in tools.items() if name in shown),
            prompts={name: spec for name, spec in catalogue.prompts.items() if name in prompts},
            resources={item.uri: item for item in found if not item.is_template},
            templates=templates,
            matched=tuple(sorted(templates, key=lambda item: -literal_length(item.uri))),
        )


def _sets(catalogue: Catalogue, slugs: frozenset[str] | None) -> list[ToolsetSpec]:
    if slugs is not None:
        return [spec for slug, spec in catalogue.toolsets.items() if slug in slugs]
    everything = ToolsetSpec(
        slug="",
        tools=frozenset(catalogue.tools),
        prompts=frozenset(catalogue.prompts),
        resources=frozenset(catalogue.resources),
    )
    return [everything]


def _searched(sets: list[ToolsetSpec]) -> bool:
    return any(item.search_only for item in sets)


def _helpers(catalogue: Catalogue, *handlers: str) -> frozenset[str]:
    """The names under which the catalogue has these built-ins."""
    return frozenset(
        name
        for name, spec in catalogue.tools.items()
        if spec.source is ToolSource.BUILTIN and spec.handler in handlers
    )


def _union(groups: list[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*groups)
