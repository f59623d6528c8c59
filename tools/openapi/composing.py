"""One schema out of many: what is needed of the definitions, inlined while small, within a size.

A schema is read by models with every listing of the tools, so it has a limit. Beyond it the
definitions farthest from the arguments are left open; the API still judges what is sent there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import orjson

from tools.openapi.definitions import Definitions
from tools.openapi.walking import DEFINITIONS, references, rewritten

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
LARGEST_SCHEMA: Final = 32_000
ALWAYS_INLINED: Final = 300
INLINED_ONCE: Final = 2_000
INLINING_ROUNDS: Final = 4
_ANNOTATIONS: Final = frozenset({"description", "examples", "deprecated", "default"})


def compose(root: Mapping[str, Any], definitions: Definitions) -> tuple[dict[str, Any], list[str]]:
    """`root` with the definitions it needs under `$defs`, and notes on what was left out."""
    within, beyond = definitions.reached(root, LARGEST_SCHEMA - len(orjson.dumps(root)))
    notes = definitions.notes(within)
    kept = {name: definitions.get(name) for name in within}
    if beyond:
        notes.append("The schema is very large; its innermost parts were left open.")
        kept.update((name, _left_open(definitions.get(name))) for name in beyond)
    schema, kept = _inlined(dict(root), kept)
    whole = {"$schema": DRAFT, **schema}
    if kept:
        whole["$defs"] = kept
    return whole, notes


def _left_open(definition: Any) -> dict[str, Any]:
    stated = definition.get("type") if isinstance(definition, Mapping) else None
    return {"type": stated} if stated else {}


def _needed(root: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    found: set[str] = set()
    waiting = [root]
    while waiting:
        new = set(references(waiting.pop())) - found
        found.update(new)
        waiting.extend(kept[name] for name in new)
    return [name for name in kept if name in found]


def _inlined(root: dict[str, Any], kept: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    for _ in range(INLINING_ROUNDS):
        leaves = _leaves(root, kept)
        if not leaves:
            break

        def change(schema: dict[str, Any], leaves: Mapping[str, Any] = leaves) -> Any:
            return _with_target(schema, leaves)

        root = rewritten(root, change)
        kept = {name: rewritten(definition, change) for name, definition in kept.items()}
        needed = _needed(root, kept)
        kept = {name: kept[name] for name in needed}
    return root, kept


def _leaves(root: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Definitions without references that are small, or used once and not large."""
    uses = Counter(name for schema in (root, *kept.values()) for name in references(schema))
    leaves = {}
    for name, definition in kept.items():
        if not references(definition):
            size = len(orjson.dumps(definition))
            if size <= (INLINED_ONCE if uses[name] == 1 else ALWAYS_INLINED):
                leaves[name] = definition
    return leaves


def _with_target(schema: dict[str, Any], leaves: Mapping[str, Any]) -> Any:
    target = leaves.get(str(schema.get("$ref", "")).removeprefix(DEFINITIONS))
    if target is None:
        return schema
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    if not isinstance(target, Mapping):
        return schema if beside else target
    if set(beside) <= _ANNOTATIONS or not set(beside) & set(target):
        return {**target, **beside}
    return schema
