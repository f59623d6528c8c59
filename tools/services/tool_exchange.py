"""Tools into and out of configuration documents: what a document would change, and the change itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from tools.conf import SECTIONS, ConfigurationFault
from tools.models import Tool
from tools.models.tool_rules import ELSEWHERE
from tools.services.tool_documents import (
    FIELDS,
    entry_faults,
    same,
    secret_faults,
    to_entry,
    unchanged,
    values_of,
)
from tools.services.tool_status import handler_faults
from tools.upstreams.differences import Difference, differences

TOOLS: Final = "tools"
OWNED: Final = "owned_tools"
KNOWN: Final = (TOOLS, OWNED, *SECTIONS, "dependencies")
MOST_TOOLS: Final = 5_000
MOST_VALUES: Final = 1_000_000
DEEPEST: Final = 100
MOST_NAMED: Final = 20
LONGEST_NAME: Final = 64
OWNERS: Final = ("pipeline_reference", "upstream_item__server", "api_operation__service")
# As differences between the definitions of a server's tools are told.
_NAMES: Final = {"input_schema": "inputSchema", "output_schema": "outputSchema"}


class State(StrEnum):
    """What a document means for one tool."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Planned:
    """One tool of a document."""

    name: str
    state: State
    reasons: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    row: Tool | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a document would do. `notes` are about what it holds and what is left alone."""

    tools: tuple[Planned, ...]
    notes: tuple[str, ...] = ()

    def of(self, *states: State) -> list[Planned]:
        return [one for one in self.tools if one.state in states]

    @property
    def digest(self) -> str:
        """What this plan is known by between the page that shows it and the one that carries it out."""
        return hashlib.sha256(repr(self.tools).encode("utf-8", "replace")).hexdigest()


def export_tools(tools: QuerySet[Tool] | None = None) -> dict[str, Any]:
    """The document of `tools`, or of all. Those that belong to something else are only named."""
    rows = Tool.objects.all() if tools is None else tools
    own, owned = [], []
    for tool in rows.select_related(*OWNERS).order_by("name"):
        if owner := owner_of(tool):
            owned.append({"name": tool.name, "belongs_to": owner})
        else:
            own.append(to_entry(tool))
    return {TOOLS: own, **({OWNED: owned} if owned else {})}


def owner_of(tool: Any) -> str:
    """What brings `tool` along and would change it back; empty when nothing does."""
    if (pipeline := getattr(tool, "pipeline_reference", None)) is not None:
        return f"pipeline {pipeline}"
    if (item := getattr(tool, "upstream_item", None)) is not None:
        return f"MCP server {item.server}"
    if (operation := getattr(tool, "api_operation", None)) is not None:
        return f"HTTP API {operation.service}"
    return ""


def holds_tools(document: Any) -> bool:
    return isinstance(document, Mapping) and (TOOLS in document or OWNED in document)


def plan_tools(document: Any) -> Plan:
    """What the tools of `document` would change. Nothing is saved.

    Raises:
        ConfigurationFault: the document has no list of tools that could be looked at one by one.
    """
    entries = _entries(document)
    names = [_name(entry) for entry in entries]
    rows = {tool.name: tool for tool in _named_rows(names).select_related(*OWNERS)}
    twice = {name for name, count in Counter(names).items() if count > 1 and name}
    planned = [
        _planned(number, entry, rows.get(name), twice)
        for number, (name, entry) in enumerate(zip(names, entries, strict=True), 1)
    ]
    return Plan(tuple(planned), tuple(_notes(document)))


def carry_out(document: Any, chosen: Collection[str] | None = None, digest: str = "") -> Plan:
    """Save the tools of `document` that are new or changed, all or none; those `chosen`, if given.

    Raises:
        ConfigurationFault: one of them is refused, or `digest` is not that of the plan any more.
    """
    try:
        with transaction.atomic():
            # Whoever else would change them waits until this is done.
            names = [_name(entry) for entry in _entries(document)]
            list(_named_rows(names).select_for_update().values_list("pk"))
            plan = plan_tools(document)
            if digest and plan.digest != digest:
                raise ConfigurationFault(["The tools have changed since. Look at it again."])
            refuse(plan.of(State.REFUSED), chosen)
            for one in plan.of(State.NEW, State.CHANGED):
                if one.row is not None and (chosen is None or one.name in chosen):
                    _save(one.row)
    except IntegrityError as fault:
        raise ConfigurationFault(
            ["Somebody else has just saved one of these tools. Try again."]
        ) from fault
    return plan


def check_size(document: Any) -> None:
    """Refuse what aliases make endless or very large before anything walks through it.

    Raises:
        ConfigurationFault: it is nested too deeply, or stands for too many values.
    """
    if _size(document, {}, 0) > MOST_VALUES:
        told = f"the document stands for more than {MOST_VALUES:,} values; write it without aliases"
        raise ConfigurationFault([told])


def _size(value: Any, known: dict[int, int], depth: int) -> int:
    if not isinstance(value, dict | list):
        return 1
    if depth > DEEPEST:
        raise ConfigurationFault(["the document is nested too deeply"])
    # What an alias repeats is counted once and added up each time.
    if id(value) not in known:
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(one, known, depth + 1) for one in inner)
    return known[id(value)]


def _entries(document: Any) -> Sequence[Any]:
    if not isinstance(document, Mapping):
        raise ConfigurationFault(["the document must be a mapping with a list of tools"])
    check_size(document)
    faults = [
        f"{str(name)[:80]!r} is not a section; known: {', '.join(KNOWN)}"
        for name in document
        if name not in KNOWN
    ]
    entries = document.get(TOOLS)
    entries = [] if entries is None else entries
    if not isinstance(entries, list):
        faults.append("tools must be a list of tools")
    elif len(entries) > MOST_TOOLS:
        faults.append(f"there are {len(entries):,} tools; at most {MOST_TOOLS:,} are read")
    if faults:
        raise ConfigurationFault(faults)
    return list(entries)


def _name(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) else ""


def _named_rows(names: Iterable[str]) -> QuerySet[Tool]:
    """The tools of these names. Others than can be one are not asked for: no database takes NUL."""
    rows: QuerySet[Tool] = Tool.objects.filter(
        name__in=[name for name in names if name.isidentifier()]
    )
    return rows


def _planned(number: int, entry: Any, existing: Tool | None, twice: set[str]) -> Planned:
    name = _name(entry)
    faults = entry_faults(entry)
    if name in twice:
        faults.append("is in the document more than once")
    if existing is not None and (owner := owner_of(existing)):
        faults.append(f"belongs to the {owner}, and is changed there")
    if faults:
        return Planned(name[:LONGEST_NAME] or f"entry {number}", State.REFUSED, tuple(faults))
    before = values_of(existing) if existing is not None else {}
    kept = unchanged(entry, existing) if existing is not None else {}
    row = _row(existing, {**entry, **kept})
    faults = [*secret_faults(entry, kept), *_row_faults(row)]
    if faults:
        return Planned(name[:LONGEST_NAME], State.REFUSED, tuple(faults))
    after = values_of(row)
    if existing is None:
        return Planned(name, State.NEW, fields=tuple(entry), row=row)
    changed = tuple(key for key in FIELDS if not same(before[key], after[key]))
    if not changed:
        return Planned(name, State.SAME)
    found = differences(_named(before, changed), _named(after, changed))
    return Planned(name, State.CHANGED, fields=changed, differences=tuple(found), row=row)


def _row(existing: Tool | None, entry: Mapping[str, Any]) -> Tool:
    """The tool as the entry says; what it leaves out is at its default."""
    row = Tool() if existing is None else existing
    for name, kind in FIELDS.items():
        setattr(row, name, entry[name] if name in entry else kind.get_default())
    return row


def _row_faults(row: Tool) -> list[str]:
    elsewhere = ELSEWHERE.get(row.source)
    return [
        *row.problems(),
        *handler_faults(row.source, row.handler),
        *([f"source: {elsewhere}"] if elsewhere else []),
    ]


def _named(values: Mapping[str, Any], changed: Iterable[str]) -> dict[str, Any]:
    return {_NAMES.get(name, name.replace("_", " ")): values[name] for name in changed}


def _notes(document: Mapping[str, Any]) -> list[str]:
    notes = []
    owned = document.get(OWNED)
    if isinstance(owned, list) and owned:
        named = ", ".join(f"{_name(one)} ({_owner(one)})" for one in owned[:MOST_NAMED])
        more = f" and {len(owned) - MOST_NAMED} more" if len(owned) > MOST_NAMED else ""
        notes.append(f"Left alone, because they come with something else: {named}{more}.")
    if any(name not in {TOOLS, OWNED} for name in document):
        notes.append("The configuration of a service in it is applied with apply_config alone.")
    return notes


def _owner(entry: Any) -> str:
    return str(entry.get("belongs_to", "?"))[:100] if isinstance(entry, Mapping) else "?"


def refuse(refused: Sequence[Planned], chosen: Collection[str] | None = None) -> None:
    """Raises:
    ConfigurationFault: with the reasons, if any of `refused` is among those `chosen`.
    """
    faults = [
        f"tools: {one.name}: {reason}"
        for one in refused
        if chosen is None or one.name in chosen
        for reason in one.reasons
    ]
    if faults:
        raise ConfigurationFault(faults)


def _save(row: Tool) -> None:
    try:
        row.save()
    except ValidationError as fault:
        raise ConfigurationFault([f"tools: {row.name}: {one}" for one in fault.messages]) from fault
