"""Notices changes of watched rows, whichever way they are made: saved, deleted, in bulk, in lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from django.db import models, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save

from tools.models.audit import Action
from tools.models.signals import ask_before, rows_about_to_change, rows_changed_in_bulk
from tools.services.audit.acting import is_recorded
from tools.services.audit.recording import record_action, record_rows
from tools.services.audit.values import members
from tools.services.audit.watched import Row, State, Watched, memberships, registry

# Where a row keeps what it was, between the signal before a change and the one after it.
_BEFORE: Final = "_audit_before"


def watch(watched: Watched) -> None:
    """Write down every change of this model from now on."""
    model = watched.model
    registry[model] = watched
    for signal, receiver in (
        (pre_save, _before_save),
        (post_save, _after_save),
        (pre_delete, _before_delete),
        (post_delete, _after_delete),
    ):
        signal.connect(receiver, sender=model, dispatch_uid=f"audit-{model._meta.label}")
    for field in model._meta.local_many_to_many:
        through: Any = field.remote_field.through
        memberships[through] = (watched, field.name)
        m2m_changed.connect(_members_changed, sender=through, dispatch_uid="audit-members")
    rows_about_to_change.connect(_before_bulk, sender=model, dispatch_uid="audit-bulk")
    rows_changed_in_bulk.connect(_after_bulk, sender=model, dispatch_uid="audit-added")


def watched_update(rows: models.QuerySet[Any], **values: Any) -> int:
    """`rows.update` of a model whose own query sets do not tell."""
    with transaction.atomic(using=rows.db):
        afterwards = ask_before(rows, values)
        count = rows.update(**values)
        for tell in afterwards:
            tell()
    return count


def _before_save(
    sender: Any, instance: Any, using: str, update_fields: Any = None, **_: Any
) -> None:
    watched = registry[sender]
    known = instance.pk is not None and is_recorded() and watched.concerns(update_fields)
    setattr(instance, _BEFORE, _read(watched, instance.pk, using) if known else None)


def _after_save(
    sender: Any, instance: Any, using: str, update_fields: Any = None, **_: Any
) -> None:
    watched = registry[sender]
    before = instance.__dict__.pop(_BEFORE, None)
    if is_recorded() and watched.concerns(update_fields):
        after = _read(watched, instance.pk, using)
        record_rows(watched, [Row(instance.pk, str(instance), before, after)], using)


def _before_delete(sender: Any, instance: Any, using: str, origin: Any = None, **_: Any) -> None:
    watched = registry[sender]
    told = watched.only_changes or (watched.parts and not _is_of(sender, origin))
    if is_recorded() and not told:
        # As it was loaded: with a server go thousands of rows, and none is read twice.
        setattr(instance, _BEFORE, watched.loaded(instance))


def _is_of(model: Any, origin: Any) -> bool:
    """Whether somebody deleted rows of this model, and not others that they went with."""
    return (origin.model if isinstance(origin, models.QuerySet) else type(origin)) is model


def _after_delete(sender: Any, instance: Any, using: str, **_: Any) -> None:
    before = instance.__dict__.pop(_BEFORE, None)
    if before is not None:
        record_rows(registry[sender], [Row(instance.pk, str(instance), before, None)], using)


def _before_bulk(
    sender: Any, rows: Any, names: Iterable[str], **_: Any
) -> Callable[[], None] | None:
    watched = registry[sender]
    if not is_recorded() or not watched.concerns(names):
        return None
    using = rows.db
    pks = list(rows.order_by().values_list("pk", flat=True))
    before = watched.read(pks, using)

    def tell() -> None:
        after = watched.read(before, using)
        named = {one.pk: str(one) for one in sender._base_manager.using(using).filter(pk__in=after)}
        record_rows(
            watched,
            [Row(pk, named[pk], before[pk], state) for pk, state in after.items()],
            using,
        )

    return tell


def _after_bulk(sender: Any, using: str, added: Any = (), **_: Any) -> None:
    if added and is_recorded():
        watched = registry[sender]
        after = watched.read([one.pk for one in added], using)
        rows = [Row(one.pk, str(one), None, after[one.pk]) for one in added if one.pk in after]
        record_rows(watched, rows, using)


def _members_changed(
    sender: Any, *, instance: Any, action: str, reverse: bool, model: Any, pk_set: Any, **_: Any
) -> None:
    if action not in {"post_add", "post_remove", "pre_clear"} or not is_recorded():
        return
    watched, name = memberships[sender]
    if action == "pre_clear":
        related: Any = watched.model._meta.get_field(name).remote_field
        accessor = related.get_accessor_name()
        others = list(getattr(instance, accessor if reverse else name).all())
    else:
        others = list(model._base_manager.filter(pk__in=pk_set or ()))
    if not others:
        return
    # Whichever side it was changed from, it is a change of the row whose field it is.
    owners, held = (others, [instance]) if reverse else ([instance], others)
    names = [str(one) for one in held]
    became = members(names, ()) if action == "post_add" else members((), names)
    for owner in owners:
        record_action(
            Action.CHANGED, watched.kind, str(owner), object_id=owner.pk, changes={name: became}
        )


def _read(watched: Watched, pk: Any, using: str) -> State | None:
    return watched.read([pk], using).get(pk)
