"""How a change of the catalogue is noticed, also when it is made in bulk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.dispatch import Signal
from typing_extensions import override

# Sent with `using` (a database alias) after rows changed without signals of their own.
rows_changed_in_bulk = Signal()


class AnnouncingQuerySet(models.QuerySet[Any]):
    """Bulk changes send no model signals; these say that something changed."""

    @override
    def update(self, **kwargs: Any) -> int:
        count = super().update(**kwargs)
        rows_changed_in_bulk.send(self.model, using=self.db)
        return count

    @override
    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        created = super().bulk_create(objs, *args, **kwargs)
        rows_changed_in_bulk.send(self.model, using=self.db)
        return created


class AnnouncingManager(models.Manager[Any]):
    """Hands out query sets that announce."""

    @override
    def get_queryset(self) -> AnnouncingQuerySet:
        return AnnouncingQuerySet(self.model, using=self._db)
