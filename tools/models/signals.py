"""How a change of the catalogue is noticed, also when it is made in bulk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import models, transaction
from django.dispatch import Signal
from typing_extensions import override

# Sent with `using` (a database alias) after rows changed without signals of their own; `added` has
# those that are new.
rows_changed_in_bulk = Signal()
# Sent with `rows` (a query set) and `names` of fields before rows change without signals of their
# own. A receiver may answer with a function, which is called once they have changed.
rows_about_to_change = Signal()


class AnnouncingQuerySet(models.QuerySet[Any]):
    """Bulk changes send no model signals; these say that something changed, in the same transaction."""

    @override
    def update(self, **kwargs: Any) -> int:
        with transaction.atomic(using=self.db):
            afterwards = ask_before(self, kwargs)
            count = super().update(**kwargs)
            for tell in afterwards:
                tell()
            rows_changed_in_bulk.send(self.model, using=self.db)
        return count

    @override
    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        if kwargs.get("ignore_conflicts"):
            raise TypeError("Which rows are new would not be known, and not be in the audit trail")
        with transaction.atomic(using=self.db):
            created = super().bulk_create(objs, *args, **kwargs)
            rows_changed_in_bulk.send(self.model, using=self.db, added=created)
        return created


def ask_before(rows: models.QuerySet[Any], names: Iterable[str]) -> list[Any]:
    """Tell that these fields of `rows` are about to change; what is to be called afterwards."""
    answers = rows_about_to_change.send(rows.model, rows=rows, names=tuple(names))
    return [tell for _, tell in answers if tell is not None]


class AnnouncingManager(models.Manager[Any]):
    """Hands out query sets that announce."""

    @override
    def get_queryset(self) -> AnnouncingQuerySet:
        return AnnouncingQuerySet(self.model, using=self._db)
