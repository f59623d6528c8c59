"""One discovery compared with what is known of a server, and every difference worked out.

Nothing is saved before everything has been looked at; then each kind of row is written at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils import timezone

from tools.models import ItemState, NewItems, Tool, UpstreamItem, UpstreamServer
from tools.models.upstream_rules import LONGEST_REMOTE_NAME
from tools.services.upstream_definitions import (
    LARGEST_DEFINITION,
    TOO_LARGE,
    Fields,
    storable,
    unpinned,
)
from tools.services.upstream_rows import (
    MODELS,
    TakenNames,
    build_row,
    fields_of,
    merge,
    update_rows,
)
from tools.upstreams import Discovered, Kind, fingerprint, pinned
from tools.upstreams.findings import Finding, definition_findings, identity, name_findings
from tools.upstreams.lookalikes import KnownNames
from tools.upstreams.naming import in_naming_order

MOST_ITEMS: Final = 5000
SAVED: Final = (
    *("state", "approved", "approved_hash", "offered", "offered_hash"),
    *("metadata", "findings", "problem", "changed_at", "tool", "prompt", "resource"),
)

Key = tuple[str, str]


@dataclass(slots=True)
class Changes:
    """What a discovery came to, as kinds and names. `refused` says why some have no row."""

    added: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class Sync:
    """The work of one discovery of one server, which must be locked."""

    def __init__(self, server: UpstreamServer, found: Discovered) -> None:
        self.changes = Changes()
        self._server = server
        self._found = found
        rows = UpstreamItem.objects.filter(server=server)
        self._known: dict[Key, UpstreamItem] = {
            (row.kind, row.remote_name): row
            for row in rows.select_related("tool", "prompt", "resource")
        }
        for row in self._known.values():
            row.server = server
        self._touched: dict[Key, UpstreamItem] = {}
        self._new: list[UpstreamItem] = []
        self._rows: dict[str, list[Any]] = {}
        self._names: TakenNames | None = None
        self._others: KnownNames | None = None

    def run(self) -> Changes:
        """Work out the differences and save them."""
        offered = self._offered()
        for key, definition in offered.items():
            item = self._known.get(key)
            if item is None:
                self._add(key, definition)
            else:
                self._compare(item, definition)
        for key, item in self._known.items():
            asked = key[0] == Kind.TOOL or not self._found.tools_only
            if asked and key not in offered and item.state != ItemState.GONE:
                self._leave(item)
        self._save()
        return self.changes

    def _offered(self) -> dict[Key, Mapping[str, Any]]:
        """What the server offers, each thing once, in the order in which names are given."""
        by_kind = (
            (Kind.TOOL, self._found.tools),
            (Kind.PROMPT, self._found.prompts),
            (Kind.RESOURCE, self._found.resources),
            (Kind.TEMPLATE, self._found.templates),
        )
        offered: dict[Key, Mapping[str, Any]] = {}
        for kind, definitions in by_kind:
            named = dict(self._usable(kind, definitions))
            for name in in_naming_order(named):
                if len(offered) < MOST_ITEMS:
                    offered[kind.value, name] = named[name]
        total = sum(len(definitions) for _, definitions in by_kind)
        if total > MOST_ITEMS:
            self._warn(f"It offers {total:,} things; the first {MOST_ITEMS:,} are looked at")
        return offered

    def _usable(
        self, kind: Kind, definitions: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        seen: set[str] = set()
        for definition in definitions:
            name = identity(kind, definition)
            if not name or storable(name) != name or len(name) > LONGEST_REMOTE_NAME:
                self._warn(f"One {kind} is left out: it has no usable name")
            elif name in seen:
                self._warn(f"{kind} {name} is offered twice; the first one counts")
            else:
                seen.add(name)
                yield name, definition

    def _add(self, key: Key, definition: Mapping[str, Any]) -> None:
        kind, passes = Kind(key[0]), self._server.new_items == NewItems.PASS
        item = UpstreamItem(server=self._server, kind=kind.value, remote_name=key[1])
        item.metadata = unpinned(kind, definition)
        if passes:
            item.state, item.approved_hash = ItemState.APPROVED, fingerprint(kind, definition)
            item.approved = _kept(kind, definition)
        else:
            _offer(item, kind, definition, ItemState.WAITING)
        self._note(self.changes.added if passes else self.changes.waiting, item)
        self._look_at(item, definition)
        self._represent(item)
        self._new.append(item)

    def _compare(self, item: UpstreamItem, definition: Mapping[str, Any]) -> None:
        kind, digest = Kind(item.kind), fingerprint(Kind(item.kind), definition)
        before = self._fields(item)
        rest = unpinned(kind, definition)
        if item.metadata != rest:
            item.metadata = rest
            self._touch(item)
        if item.approved_hash == digest:
            self._settle(item, definition)
        elif item.approved_hash:
            if item.state != ItemState.CHANGED or item.offered_hash != digest:
                _offer(item, kind, definition, ItemState.CHANGED)
                self._look_at(item, definition)
                self._note(self.changes.changed, item)
        elif item.state != ItemState.WAITING or item.offered_hash != digest:
            _offer(item, kind, definition, ItemState.WAITING)
            self._look_at(item, definition)
            self._note(self.changes.waiting, item)
        self._follow(item, before)

    def _settle(self, item: UpstreamItem, definition: Mapping[str, Any]) -> None:
        """The server says what was approved."""
        if item.state != ItemState.APPROVED:
            item.state, item.offered, item.offered_hash = ItemState.APPROVED, None, ""
            self._look_at(item, definition)
            self._note(self.changes.back, item)

    def _leave(self, item: UpstreamItem) -> None:
        if item.approved_hash:
            item.offered, item.offered_hash = None, ""
        item.state = ItemState.GONE
        self._note(self.changes.gone, item)

    def _follow(self, item: UpstreamItem, before: Fields) -> None:
        """Keep the row as what it stands for, where no decision is needed."""
        attribute = MODELS[Kind(item.kind)][0]
        row = getattr(item, attribute)
        if row is None:
            self._represent(item)
            return
        now = self._fields(item)
        if before == now:
            return
        try:
            changed = merge(row, before, now, attribute)
        except ValidationError as fault:
            item.problem = "; ".join(fault.messages)
            self._touch(item)
            return
        if changed:
            self._rows.setdefault(attribute, []).append(row)

    def _represent(self, item: UpstreamItem) -> None:
        """Give the item a row of the catalogue, or say why it has none."""
        self._names = self._names or TakenNames()
        problem = ""
        try:
            if _definition(item) == {}:
                raise ValidationError(TOO_LARGE)
            row, warning = build_row(item, self._fields(item), self._names)
        except ValidationError as fault:
            problem = "; ".join(fault.messages)
            self.changes.refused[str(item)] = problem
        else:
            setattr(item, MODELS[Kind(item.kind)][0], row)
            self._touch(item)
            if warning:
                self._warn(warning)
                item.findings.append(Finding("name", "name", f"{warning}.").to_json())
        if item.problem != problem:
            item.problem = problem
            self._touch(item)

    def _fields(self, item: UpstreamItem) -> Fields:
        return fields_of(self._server, Kind(item.kind), _definition(item), item.metadata)[0]

    def _look_at(self, item: UpstreamItem, definition: Mapping[str, Any]) -> None:
        """Note what an operator should see in the definition."""
        kind = Kind(item.kind)
        found = definition_findings(kind, definition)
        if kind is Kind.TOOL:
            self._others = self._others or _names_of_others(self._server)
            found += name_findings(item.remote_name, self._others)
        found += fields_of(self._server, kind, storable(definition), item.metadata)[1]
        item.findings = storable([one.to_json() for one in found])

    def _note(self, names: list[str], item: UpstreamItem) -> None:
        names.append(str(item))
        self._touch(item)

    def _touch(self, item: UpstreamItem) -> None:
        if item.pk is not None:
            self._touched[item.kind, item.remote_name] = item

    def _warn(self, text: str) -> None:
        if text not in self.changes.warnings:
            self.changes.warnings.append(text)

    def _save(self) -> None:
        items = [*self._new, *self._touched.values()]
        for attribute, model in dict(MODELS.values()).items():
            fresh = [
                row for row in (getattr(one, attribute) for one in items) if row and not row.pk
            ]
            if fresh:
                model.objects.bulk_create(fresh, batch_size=200)
            if rows := self._rows.get(attribute):
                update_rows(rows, attribute)
        for item in items:
            for attribute in ("tool", "prompt", "resource"):
                # Takes over the key that the row was given just now.
                setattr(item, attribute, getattr(item, attribute))
        if self._new:
            UpstreamItem.objects.bulk_create(self._new, batch_size=200)
        if self._touched:
            for item in self._touched.values():
                item.changed_at = timezone.now()
            UpstreamItem.objects.bulk_update(self._touched.values(), SAVED, batch_size=100)


def _offer(item: UpstreamItem, kind: Kind, definition: Mapping[str, Any], state: ItemState) -> None:
    item.state = state
    item.offered, item.offered_hash = _kept(kind, definition), fingerprint(kind, definition)


def _kept(kind: Kind, definition: Mapping[str, Any]) -> Fields:
    """The pinned part as it is stored; empty when it is too large for that."""
    kept: Fields = storable(pinned(kind, definition))
    return kept if len(json.dumps(kept)) <= LARGEST_DEFINITION else {}


def _definition(item: UpstreamItem) -> Fields:
    """What the row is made of: what was approved, or what waits when nothing was yet."""
    return item.approved if item.approved_hash else (item.offered or {})


def _names_of_others(server: UpstreamServer) -> KnownNames:
    rows = Tool.objects.exclude(upstream_item__server=server)
    named = rows.values_list("name", "upstream_item__remote_name", "upstream_item__server__slug")
    return KnownNames({remote or name: slug or "this service" for name, remote, slug in named})
