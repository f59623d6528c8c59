"""Writes entries of the audit trail. In the transaction of the change: both stay, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import models

from tools.context.redact import redact_text
from tools.models.audit import LONGEST_NAME, Action, AuditEntry
from tools.services.audit.acting import current_actor, current_doing, is_recorded
from tools.services.audit.values import change, same
from tools.services.audit.watched import Row, State, Watched

__all__ = ["Action", "record_action", "record_rows"]

BATCH: Final = 200
MASKED: Final = {"masked": True}
_PLAIN: Final = {
    (True, False): Action.ADDED,
    (False, False): Action.CHANGED,
    (False, True): Action.DELETED,
}


def record_rows(watched: Watched, rows: Sequence[Row], using: str) -> None:
    """Write down what became of rows; those that are as they were leave no entry."""
    if not is_recorded():
        return
    entries, changed = [], []
    for row in rows:
        if watched.only_changes and (row.before is None or row.after is None):
            continue
        if changes := changes_of(watched, row):
            action = watched.naming(_PLAIN[row.before is None, row.after is None], changes)
            entries.append(entry(action, watched.kind, row.pk, row.name, changes))
            changed.append(row)
    AuditEntry.objects.using(using).bulk_create(entries, batch_size=BATCH)
    if watched.then is not None and changed:
        watched.then(changed, using)


def record_action(
    action: Action,
    kind: str,
    name: str,
    *,
    object_id: Any = "",
    changes: Mapping[str, Any] | None = None,
    note: str = "",
) -> None:
    """Write down what is no change of a row's fields: a reset, an emptied cache, an export."""
    if is_recorded():
        made = entry(action, kind, object_id, name, changes or {})
        made.note = redact_text(note) or made.note
        made.save()


def entry(
    action: Action, kind: str, object_id: Any, name: str, changes: Mapping[str, Any]
) -> AuditEntry:
    """An entry that is not saved yet, by who is acting now."""
    actor, part_of = current_actor(), current_doing()
    if part_of.action is not None and action is Action.CHANGED:
        action = part_of.action
    return AuditEntry(
        actor_kind=actor.kind,
        actor=_short(actor.name),
        address=actor.address[:64],
        through=_short(actor.through),
        action=action,
        kind=kind,
        object_id=str(object_id)[:64],
        object_name=_short(name) or "-",
        fields=", ".join(changes),
        changes=changes,
        note=part_of.note,
    )


def changes_of(watched: Watched, row: Row) -> dict[str, Any]:
    """Each field that differs, with its values before and after as they may be kept."""
    found: dict[str, Any] = {}
    for name, field in watched.fields.items():
        before, after = _value(row.before, field), _value(row.after, field)
        if same(before, after):
            continue
        if name in watched.masked:
            found[name] = MASKED
            continue
        shorten = watched.shown.get(name) or _readable(field)
        kept = change(shorten(before), shorten(after))
        # A row that did not exist had no value, not even the usual one.
        unknown = {"before": row.before is None, "after": row.after is None}
        found[name] = {word: value for word, value in kept.items() if not unknown.get(word)}
    return found


def _value(state: State | None, field: models.Field[Any, Any]) -> Any:
    """A value, or what stands for it in a row that does not exist: nothing worth telling."""
    return field.get_default() if state is None else state[field.name]


def _readable(field: models.Field[Any, Any]) -> Any:
    related = field.related_model if field.is_relation else None
    if related is None or isinstance(related, str):
        return lambda value: value
    return lambda value: None if value is None else _named(related, value)


def _named(model: type[models.Model], pk: Any) -> str:
    row = model._base_manager.filter(pk=pk).first()
    return f"{pk}" if row is None else f"{row} ({pk})"


def _short(text: str) -> str:
    return redact_text(str(text))[:LONGEST_NAME]
