"""Text that somebody has planted in a row is shown as text on every page of the admin that shows it."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import pytest
from django.contrib import admin
from django.db import DatabaseError, models, transaction
from django.test import Client

from tests.tools.admin.pages import address, text
from tests.tools.admin.test_roles import one_of_each_kind

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

PLANTED: Final = "\"'><i id=x>"
PAGES: Final = ("change", "delete", "history")


def plant(row: models.Model) -> None:
    """Put it into every column that takes it; rules of the database refuse it for some."""
    for field in row._meta.concrete_fields:
        if isinstance(field, models.CharField | models.TextField) and not (
            field.choices or field.primary_key
        ):
            with suppress(DatabaseError), transaction.atomic():
                type(row)._base_manager.filter(pk=row.pk).update(**{field.name: PLANTED})


def test_no_page_takes_text_for_markup(admin_client: Client) -> None:
    one_of_each_kind()
    rows = {model: model._default_manager.order_by("pk").first() for model in admin.site._registry}
    raw, shown = [], []
    for model, row in rows.items():
        assert row is not None, model
        plant(row)
        pages = [address(model, "changelist")]
        pages += [address(model, name, row.pk) for name in PAGES]
        for page in pages:
            found = text(admin_client.get(page, follow=True))
            if "<i id=x>" in found:
                raw.append(page)
            if "&lt;i id=x&gt;" in found:
                shown.append(page)
    assert raw == []
    # Most pages did show it.
    assert len(shown) > len(rows)
