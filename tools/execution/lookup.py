"""Stage 2: a name and a caller to the tool, from the catalogue in memory.

A tool the caller was not granted does not exist for it: it is neither found nor suggested.
"""

from __future__ import annotations

from rapidfuzz import fuzz, process

from tools.conf import deployment
from tools.contracts import Caller, ToolListing, ToolSpec
from tools.errors import ErrorDetails, ToolNotFound
from tools.selectors import Catalogue

MOST_LISTED = 50
LONGEST_NAME = 64


class Directory:
    """One version of the catalogue as callers see it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._granted: dict[frozenset[str], frozenset[str]] = {}
        self._listings: dict[frozenset[str] | None, ToolListing] = {}

    def find(self, name: str, caller: Caller) -> ToolSpec:
        """The tool of exactly that name.

        Raises:
            ToolNotFound: naming what comes close and what there is.
        """
        spec = self.catalogue.tools.get(name)
        if spec is None or (
            caller.toolsets is not None and name not in self._names(caller.toolsets)
        ):
            raise _not_found(name, [tool.name for tool in self.visible(caller)])
        return spec

    def visible(self, caller: Caller) -> tuple[ToolSpec, ...]:
        """The tools `caller` may see, by name."""
        if caller.toolsets is None:
            return tuple(self.catalogue.tools.values())
        granted = self._names(caller.toolsets)
        return tuple(spec for name, spec in self.catalogue.tools.items() if name in granted)

    def listing(self, caller: Caller) -> ToolListing:
        """What `caller` gets from `GET /tools`; put together once per version and grant."""
        known = self._listings.get(caller.toolsets)
        if known is None:
            name, version = self.catalogue.settings.service_name, deployment().version
            known = ToolListing.of(name, version, self.visible(caller))
            self._listings[caller.toolsets] = known
        return known

    def _names(self, toolsets: frozenset[str]) -> frozenset[str]:
        known = self._granted.get(toolsets)
        if known is None:
            members = (self.catalogue.toolsets.get(slug, frozenset()) for slug in toolsets)
            known = self._granted[toolsets] = frozenset().union(*members)
        return known


def _not_found(name: str, names: list[str]) -> ToolNotFound:
    # A name too long for any tool resembles none; comparing it would only cost time.
    asked = name if len(name) <= LONGEST_NAME else ""
    close = process.extract(asked, names, scorer=fuzz.WRatio, limit=3, score_cutoff=60)
    nearest = [match for match, _, _ in close]
    return ToolNotFound(
        f"Tool not found: {name[:128]}",
        ErrorDetails(
            parameter="tool",
            value=name[:128],
            expected="a name from GET /tools",
            suggestion=f"Did you mean {' or '.join(nearest)}?"
            if nearest
            else "List the tools first",
            available=tuple(nearest + [other for other in names if other not in nearest])[
                :MOST_LISTED
            ],
        ),
    )
