"""A call that a new API client can make at once: a tool it was granted, with arguments that fit."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs

from tools.contracts import ToolSource, ToolSpec
from tools.models import ApiClient
from tools.schemas.example import example_of
from tools.selectors.catalogue import load_catalogue
from tools.services.call_examples import Called

QUESTION: Final = {"query": "What is this about?"}


def first_call(client: ApiClient, base_url: str, key: str) -> Called | None:
    """What is most likely to work and to mean something; None while the client sees no tools."""
    catalogue = load_catalogue()
    slugs = client.toolsets.values_list("slug", flat=True)
    granted = {
        name
        for slug in slugs
        if slug in catalogue.toolsets
        for name in catalogue.toolsets[slug].tools
    }
    tools = [spec for name, spec in catalogue.tools.items() if name in granted]
    if not tools:
        return None
    best = min(tools, key=_rank)
    return Called(best.name, _arguments(best), base_url, key=key)


def _rank(spec: ToolSpec) -> tuple[bool, bool, int, int, int]:
    """Low is good: nothing is deleted, complete arguments, then questions about documents, the newest index first.

    Values that were made up fit a schema and may still mean nothing to the tool, so the fewer the better.
    """
    index = spec.binding.get("index")
    if spec.source is ToolSource.PIPELINE:
        kind, newest = (0, -index["version_id"]) if index else (4, 0)
    elif spec.source is ToolSource.BUILTIN:
        kind, newest = 1, 0
    else:
        kind, newest = (2 if spec.read_only else 3), 0
    return (
        spec.destructive,
        not _fits(spec),
        kind,
        newest,
        len(spec.input_schema.get("required") or ()),
    )


def _arguments(spec: ToolSpec) -> dict[str, Any]:
    if spec.source is ToolSource.PIPELINE:
        return dict(QUESTION)
    found = example_of(spec.input_schema)
    return found if isinstance(found, dict) else {}


def _fits(spec: ToolSpec) -> bool:
    try:
        return jsonschema_rs.is_valid(dict(spec.input_schema), _arguments(spec))
    except ValueError:
        return False
