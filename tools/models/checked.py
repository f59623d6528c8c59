"""Rows whose rules the database is asked about at once.

Django asks it about each check of a model with a query of its own, in a savepoint of its own, whenever a row is
cleaned: with twenty rules that takes longer than all the rest of a save.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import FieldError
from django.db import models, router
from django.db.models import BaseConstraint, BooleanField, CheckConstraint, Q
from django.db.models.functions import Coalesce
from typing_extensions import override

Constraints = list[tuple[type[models.Model], Sequence[BaseConstraint]]]


class CheckedModel(models.Model):
    """Leaves out the checks that hold together; where one does not, Django finds out which."""

    class Meta:
        abstract = True

    @override
    def get_constraints(self) -> Constraints:
        every: Constraints = super().get_constraints()
        if not self._checks_hold():
            return every
        return [
            (model, [one for one in constraints if not isinstance(one, CheckConstraint)])
            for model, constraints in every
        ]

    def _checks_hold(self) -> bool:
        together = Q()
        for one in self._meta.constraints:
            if isinstance(one, CheckConstraint):
                # What is not known holds, in the database too.
                together &= Q(Coalesce(Q(one.condition), True, output_field=BooleanField()))
        using = router.db_for_write(type(self), instance=self)
        try:
            values = self._get_field_expression_map(self._meta)  # type: ignore[attr-defined] # as Django's own checks do
            return together.check(values, using=using)
        except (FieldError, TypeError, ValueError):
            # A value of the wrong type. Django leaves out the fields that it has found wrong already.
            return False
