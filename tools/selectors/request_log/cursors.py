"""A place in the request log, as it stands in addresses of pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone
from typing_extensions import override

# Beyond these, times cannot be moved to another zone.
_FIRST: Final = 1970
_LAST: Final = 9998


def parse_moment(text: str) -> datetime:
    """A time in ISO 8601; in the zone of the service if it names none.

    Raises:
        ValueError: it is none.
    """
    moment = datetime.fromisoformat(text.strip())
    if not _FIRST <= moment.year <= _LAST:
        raise ValueError(text)
    return timezone.make_aware(moment) if moment.tzinfo is None else moment


@dataclass(frozen=True, slots=True)
class Cursor:
    """Between two rows: beside the row of `key`, or, without one, beside all rows of that moment."""

    received_at: datetime
    key: UUID | None = None

    @classmethod
    def at(cls, row: Any) -> Cursor:
        return cls(row.received_at, row.pk)

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """What `str` gave.

        Raises:
            ValueError: it did not.
        """
        moment, _, key = text.partition("_")
        return cls(parse_moment(moment), UUID(key) if key else None)

    @override
    def __str__(self) -> str:
        written = self.received_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        return f"{written}_{self.key.hex}" if self.key else written

    def older(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows behind this place."""
        if self.key is None:
            return rows.filter(received_at__lt=self.received_at)
        # The first condition is all that an index needs; the second is for rows of one moment.
        return rows.filter(
            Q(received_at__lte=self.received_at),
            Q(received_at__lt=self.received_at) | Q(pk__lt=self.key),
        )

    def newer(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows before it."""
        if self.key is None:
            return rows.filter(received_at__gt=self.received_at)
        return rows.filter(
            Q(received_at__gte=self.received_at),
            Q(received_at__gt=self.received_at) | Q(pk__gt=self.key),
        )
