"""Stage 2: a name and a caller to the tool, from the catalogue in memory.

What the caller was not granted does not exist for it: it is neither found nor suggested. Prompts
and resources are looked up the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rapidfuzz import fuzz, process

from tools.conf import deployment
from tools.contracts import Caller, PromptSpec, ResourceSpec, ToolListing, ToolSpec
from tools.errors import ErrorDetails, HeldBack, PromptNotFound, ResourceNotFound, ToolNotFound
from tools.execution.grants import Grant
from tools.offerings import match_template
from tools.selectors import Catalogue

MOST_LISTED = 50
LONGEST_NAME = 64
LONGEST_ADDRESS = 4000


class Directory:
    """One version of the catalogue as callers see it; each grant is put together once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._grants: dict[frozenset[str] | None, Grant] = {}
        self._listings: dict[frozenset[str] | None, ToolListing] = {}
        # What doors found out about tools of this version, so that they look once.
        self.memo: dict[str, Any] = {}

    def find(self, name: str, caller: Caller) -> ToolSpec:
        """The tool of exactly that name.

        Raises:
            ToolNotFound: naming what comes close and what there is.
            HeldBack: its server has changed it, and nobody has looked at it yet.
        """
        grant = self._grant(caller)
        spec = grant.tools.get(name)
        if spec is None:
            self._check_held("tool", name, caller)
            raise _tool_not_found(name, grant)
        return spec

    def visible(self, caller: Caller) -> tuple[ToolSpec, ...]:
        """The tools `caller` may call, by name."""
        return self._grant(caller).visible

    def listed(self, caller: Caller) -> tuple[ToolSpec, ...]:
        """The tools that lists show to `caller`, by name.

        In place of the tools of sets that are only searched these are the two built-ins that find
        and call them; other lists do not have the one that calls.
        """
        return self._grant(caller).listed

    def listing(self, caller: Caller) -> ToolListing:
        """What `caller` gets from `GET /tools`; put together once per version and grant."""
        known = self._listings.get(caller.toolsets)
        if known is None:
            name, version = self.catalogue.settings.service_name, deployment().version
            known = ToolListing.of(name, version, self.listed(caller))
            self._listings[caller.toolsets] = known
        return known

    def visible_prompts(self, caller: Caller) -> tuple[PromptSpec, ...]:
        """The prompts `caller` may get, by name."""
        return tuple(self._grant(caller).prompts.values())

    def visible_resources(self, caller: Caller) -> tuple[ResourceSpec, ...]:
        """The resources with one address each that `caller` may read, by address."""
        return tuple(self._grant(caller).resources.values())

    def visible_templates(self, caller: Caller) -> tuple[ResourceSpec, ...]:
        """The templates of resources that `caller` may read, by address."""
        return self._grant(caller).templates

    def find_prompt(self, name: str, caller: Caller) -> PromptSpec:
        """The prompt of exactly that name.

        Raises:
            PromptNotFound: naming what comes close and what there is.
        """
        prompts = self._grant(caller).prompts
        if name in prompts:
            return prompts[name]
        self._check_held("prompt", name, caller)
        nearest = _nearest(name, prompts)
        raise PromptNotFound(
            f"Prompt not found: {name[:128]}",
            ErrorDetails(
                parameter="name",
                value=name[:128],
                expected="a name from prompts/list",
                suggestion=_did_you_mean(nearest, "List the prompts first"),
                available=_available(nearest, prompts),
            ),
        )

    def find_template(self, template: str, caller: Caller) -> ResourceSpec:
        """The resource template of exactly that address.

        Raises:
            ResourceNotFound: there is none for this caller.
        """
        for spec in self._grant(caller).templates:
            if spec.uri == template:
                return spec
        raise self._resource_not_found(template, caller)

    def match_resource(self, uri: str, caller: Caller) -> tuple[ResourceSpec, dict[str, str]]:
        """The resource at `uri` and the variables of its template, which are none without one.

        An address of its own comes first, then the template that fixes most of the address.

        Raises:
            ResourceNotFound: naming what comes close and what there is.
        """
        grant = self._grant(caller)
        exact = grant.resources.get(uri)
        if exact is not None:
            return exact, {}
        if len(uri) <= LONGEST_ADDRESS:
            for spec in grant.matched:
                variables = match_template(spec.uri, uri)
                if variables is not None:
                    return spec, variables
        raise self._resource_not_found(uri, caller)

    def _check_held(self, kind: str, name: str, caller: Caller) -> None:
        """Say of something that `caller` would have that it is held back."""
        held = self.catalogue.held.get((kind, name))
        if held is not None and (caller.toolsets is None or caller.toolsets & held.toolsets):
            raise HeldBack.of(name, held.server)

    def _resource_not_found(self, uri: str, caller: Caller) -> ResourceNotFound:
        self._check_held("resource", uri, caller)
        grant = self._grant(caller)
        addresses = [*grant.resources, *(spec.uri for spec in grant.templates)]
        nearest = _nearest(uri, addresses)
        return ResourceNotFound(
            f"Resource not found: {uri[:128]}",
            ErrorDetails(
                parameter="uri",
                value=uri[:128],
                expected="an address from resources/list or resources/templates/list",
                suggestion=_did_you_mean(nearest, "List the resources first"),
                available=_available(nearest, addresses),
            ),
        )

    def _grant(self, caller: Caller) -> Grant:
        known = self._grants.get(caller.toolsets)
        if known is None:
            known = self._grants[caller.toolsets] = Grant.of(self.catalogue, caller.toolsets)
        return known


def _tool_not_found(name: str, grant: Grant) -> ToolNotFound:
    nearest = _nearest(name, grant.tools)
    return ToolNotFound(
        f"Tool not found: {name[:128]}",
        ErrorDetails(
            parameter="tool",
            value=name[:128],
            expected="the name of a listed tool",
            suggestion=_did_you_mean(nearest, "List the tools first"),
            # Only what lists show: a set that is only searched may have hundreds of tools.
            available=_available(nearest, (spec.name for spec in grant.listed)),
        ),
    )


def _nearest(asked: str, names: Iterable[str]) -> list[str]:
    # What is too long for any name resembles none; comparing it would only cost time.
    asked = asked if len(asked) <= LONGEST_NAME else ""
    close = process.extract(asked, list(names), scorer=fuzz.WRatio, limit=3, score_cutoff=60)
    return [match for match, _, _ in close]


def _did_you_mean(nearest: list[str], otherwise: str) -> str:
    return f"Did you mean {' or '.join(nearest)}?" if nearest else otherwise


def _available(nearest: list[str], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*nearest, *names]))[:MOST_LISTED]
