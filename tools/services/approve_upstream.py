"""Decisions on what upstream servers newly offer, or offer otherwise than before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from tools.models import ItemState, UpstreamItem
from tools.services.upstream_definitions import TOO_LARGE
from tools.services.upstream_locks import lock_server
from tools.services.upstream_rows import (
    MODELS,
    TakenNames,
    build_row,
    fields_of,
    merge,
    update_rows,
)
from tools.upstreams import Kind
from tools.upstreams.differences import Difference, differences

OPEN = (ItemState.WAITING, ItemState.CHANGED)


class Outdated(Exception):
    """The server has changed the definition again since somebody looked at it, or it was decided."""


def undecided() -> QuerySet[UpstreamItem]:
    """What waits for a decision, over all servers."""
    rows: QuerySet[UpstreamItem] = UpstreamItem.objects.filter(state__in=OPEN)
    return rows.exclude(offered_hash=F("rejected_hash"))


def differences_of(item: UpstreamItem) -> list[Difference]:
    """What the server says otherwise than was approved; everything when nothing was."""
    return differences(item.approved, item.offered or {})


def approve(pk: int, by: str, *, seen: str | None = None) -> UpstreamItem:
    """Accept the definition that waits. `seen` is the hash of the one that was looked at.

    Raises:
        Outdated: that is not the one that waits.
        ValidationError: the catalogue cannot hold it.
    """
    with transaction.atomic():
        item = _locked(pk, seen)
        _accept(item, by)
    return item


def approve_all(server_pk: int, by: str) -> list[UpstreamItem]:
    """Accept everything of one server that waits for a decision.

    Raises:
        ValidationError: the catalogue cannot hold one of them; none was accepted.
    """
    with transaction.atomic():
        lock_server(pk=server_pk)
        items = list(
            undecided()
            .filter(server=server_pk)
            .select_related("server", "tool", "prompt", "resource")
        )
        names = TakenNames()
        for item in items:
            _accept(item, by, names)
    return items


def reject(pk: int, by: str, *, seen: str | None = None) -> UpstreamItem:
    """Leave it out, and do not ask again until the server says something else.

    Raises:
        Outdated: `seen` is not the hash of the definition that waits.
    """
    with transaction.atomic():
        item = _locked(pk, seen)
        item.rejected_hash = item.offered_hash
        _decide(item, by)
        item.save(update_fields=["rejected_hash", "decided_by", "decided_at", "changed_at"])
    return item


def _accept(item: UpstreamItem, by: str, names: TakenNames | None = None) -> None:
    kind = Kind(item.kind)
    attribute = MODELS[kind][0]
    offered, rest = item.offered or {}, item.metadata
    if not offered:
        raise ValidationError(TOO_LARGE)
    row: Any = getattr(item, attribute)
    now = fields_of(item.server, kind, offered, rest)[0]
    if row is None:
        row, _ = build_row(item, now, names or TakenNames())
        row.save()
        setattr(item, attribute, row)
    elif item.approved_hash:
        before = fields_of(item.server, kind, item.approved, rest)[0]
        if merge(row, before, now, attribute):
            update_rows([row], attribute)
    item.approved, item.approved_hash = offered, item.offered_hash
    item.offered, item.offered_hash, item.rejected_hash = None, "", ""
    item.state, item.problem = ItemState.APPROVED, ""
    _decide(item, by)
    item.save()


def _decide(item: UpstreamItem, by: str) -> None:
    item.decided_by, item.decided_at = by[:150], timezone.now()


def _locked(pk: int, seen: str | None) -> UpstreamItem:
    lock_server(items=pk)
    rows: Iterable[UpstreamItem] = UpstreamItem.objects.select_related(
        "server", "tool", "prompt", "resource"
    ).filter(pk=pk, state__in=OPEN)
    item = next(iter(rows), None)
    if item is None or item.offered is None or seen not in (None, item.offered_hash):
        raise Outdated
    return item
