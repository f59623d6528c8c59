"""Rows whose changes are written down in the audit trail, in the transaction of the change itself."""

from __future__ import annotations

from typing import Any

from django.db import router, transaction
from typing_extensions import override

from tools.models.checked import CheckedModel


class AuditedModel(CheckedModel):
    """Saves the row and what listens to its signals together: both are kept, or neither."""

    class Meta(CheckedModel.Meta):
        abstract = True

    @override
    def save_base(self, *args: Any, **kwargs: Any) -> None:
        using = kwargs.get("using") or router.db_for_write(type(self), instance=self)
        with transaction.atomic(using=using):
            super().save_base(*args, **kwargs)
