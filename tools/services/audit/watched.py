"""Which models are watched, which of their fields, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from django.db import models, transaction

from tools.models.audit import Action

State = Mapping[str, Any]
# What an entry is called, from the plain word for it and what changed (names to before and after).
Naming = Callable[[Action, Mapping[str, Any]], Action]
BATCH: Final = 500
# Times that move with every change, and say nothing by themselves.
TIMES: Final = frozenset({"id", "created_at", "updated_at", "changed_at", "first_seen"})


@dataclass(frozen=True, slots=True)
class Row:
    """One row before and after a change; None where it did not exist."""

    pk: Any
    name: str
    before: State | None
    after: State | None


@dataclass(frozen=True)
class Watched:
    """How the changes of one model are written down.

    `ignored` fields are the machine's own, `masked` ones secret, `shown` ones are shortened before they
    are kept. `only_changes` leaves out rows that come and go with another that is watched; of `parts` that go
    with another, the entry of that one tells.
    """

    model: type[models.Model]
    ignored: frozenset[str] = frozenset()
    masked: frozenset[str] = frozenset()
    shown: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    naming: Naming = lambda action, changes: action
    only_changes: bool = False
    parts: bool = False
    then: Callable[[list[Row], str], None] | None = None

    @cached_property
    def kind(self) -> str:
        return self.model._meta.label_lower

    @cached_property
    def fields(self) -> Mapping[str, models.Field[Any, Any]]:
        """What is compared, by name."""
        left_out = TIMES | self.ignored
        found = self.model._meta.concrete_fields
        return {one.name: one for one in found if one.name not in left_out}

    def read(self, pks: Iterable[Any], using: str) -> dict[Any, State]:
        """The rows as the database has them, held until the transaction ends, if there is one."""
        # In one order always: two who change the same rows must not wait for each other.
        rows = self.model._base_manager.using(using).order_by("pk")
        if transaction.get_connection(using).in_atomic_block:
            rows = rows.select_for_update(no_key=True)
        wanted = sorted(pks)
        found: dict[Any, State] = {}
        for start in range(0, len(wanted), BATCH):
            part = rows.filter(pk__in=wanted[start : start + BATCH])
            found.update({values.pop("pk"): values for values in part.values("pk", *self.fields)})
        return found

    def loaded(self, row: models.Model) -> State:
        """A row as it is in memory."""
        return {name: getattr(row, one.attname) for name, one in self.fields.items()}

    def concerns(self, names: Iterable[str] | None) -> bool:
        """Whether a change of these fields, or of all, is worth a look."""
        if names is None:
            return True
        attributes = {one.attname for one in self.fields.values()}
        return any(name in self.fields or name in attributes for name in names)


registry: Final[dict[type[models.Model], Watched]] = {}
# Lists of other rows: the table between them, and whose field it is.
memberships: Final[dict[type[models.Model], tuple[Watched, str]]] = {}


def kind_label(kind: str) -> str:
    """What rows of a kind are called; kinds that are no models are words already."""
    for watched in registry.values():
        if watched.kind == kind:
            return str(watched.model._meta.verbose_name)
    return kind.rpartition(".")[2]
