"""Texts of many rows as one, with commas between them; the database puts them together."""

from __future__ import annotations

from typing import Any

from django.db.models import Aggregate, TextField, Value
from django.db.models.functions import NullIf
from typing_extensions import override


class Joined(Aggregate):
    """The texts of a column that are not empty; None when all are."""

    function = "STRING_AGG"
    template = "%(function)s(%(expressions)s, ',')"
    output_field = TextField()

    def __init__(self, column: str, **extra: Any) -> None:
        super().__init__(NullIf(column, Value("")), **extra)

    @override
    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, function="GROUP_CONCAT", **extra)
