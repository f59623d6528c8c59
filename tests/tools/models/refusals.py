"""How a test shows that a row is refused, by its model and by the database beneath it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models, transaction


def model_refuses(row: models.Model, field: str) -> list[str]:
    """The messages with which `row` is refused for `field`, and for nothing else."""
    with pytest.raises(ValidationError) as caught:
        row.save()
    assert list(caught.value.message_dict) == [field]
    return list(caught.value.message_dict[field])


def database_refuses(row: models.Model, constraint: str = "") -> None:
    """The row cannot be written past the model's checks either.

    The name of the constraint is looked for where the database tells it; other columns than the
    one meant could be at fault.
    """
    manager: Any = type(row)._default_manager
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        manager.bulk_create([row])
    assert constraint in str(caught.value)


def database_refuses_change(row: models.Model, **values: Any) -> None:
    """A bulk update of a sound row to `values` fails."""
    manager: Any = type(row)._default_manager
    with pytest.raises(DatabaseError), transaction.atomic():
        manager.filter(pk=row.pk).update(**values)
