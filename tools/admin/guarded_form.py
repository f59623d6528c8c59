"""The form of a row that others may change meanwhile: nobody's change is overwritten unseen.

A page carries a digest of each value that it was opened with. When the form comes back, its row is held until the
transaction ends and read anew, and the digests are compared with that. Only what the form writes counts: what machines
note in other columns is nobody's business here, and is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models, router, transaction
from django.db.models import Q
from django.forms.utils import ErrorDict
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override

from tools.admin.audit_filters import actor_of
from tools.admin.texts import moment
from tools.models import AuditEntry
from tools.services.audit.watched import registry

OPENED_WITH: Final = "_opened_with"
# Enough to tell two values apart, and short in a page.
DIGITS: Final = 16
# Of the trail of one row: the latest change of one of these fields is among them, or long ago.
ENTRIES_LOOKED_AT: Final = 50
CHANGED: Final = (
    "Nothing was saved: since you opened this page somebody else has changed {}{}. "
    '<a href="{}" target="_blank" style="text-decoration: underline">Open it anew</a>'
    " in another tab, and take over what you still want of your own, which is kept below."
)
NOT_TOLD: Final = (
    "Nothing was saved: the page did not say which values it was opened with, so it might undo what others have "
    'changed. <a href="{}" target="_blank" style="text-decoration: underline">Open it anew</a>'
    " in another tab, and take over what you still want of your own, which is kept below."
)
GONE: Final = (
    "Nothing was saved: since you opened this page somebody else has deleted this {}. What you have typed is kept "
    "below, until you leave the page."
)


class GuardedForm(forms.ModelForm):
    """For every ModelAdmin whose rows people change; templates put `opened_with` into the page."""

    # Columns that it writes without a field of their name, such as secrets that only go in.
    also_written: ClassVar[tuple[str, ...]] = ()

    def rows(self) -> Sequence[models.Model]:
        """What this form writes, in the order in which it is held."""
        return [self.instance]

    @property
    def opened_with(self) -> SafeString:
        """The hidden input; after a refusal as it came, so that a second press overwrites nothing, too."""
        if self.instance._state.adding or not self.fields:
            return SafeString()
        known = self.data.get(OPENED_WITH, "") if self.is_bound else _pack(self._digests())
        return format_html('<input type="hidden" name="{}" value="{}">', OPENED_WITH, known)

    @override
    def full_clean(self) -> None:
        changing = self.is_bound and not self.instance._state.adding
        # Before the form puts its own values into the rows: everything else in them is saved as well.
        if changing and not all(_held(row) for row in self.rows()):
            # Checks of what is typed would look for what is no longer there.
            self._errors, self.cleaned_data = ErrorDict(renderer=self.renderer), {}
            self.add_error(None, format_html(GONE, self.instance._meta.verbose_name))
            return
        fault = self._fault() if changing else None
        super().full_clean()
        if fault:
            self.add_error(None, ValidationError(fault))

    def _fault(self) -> SafeString | None:
        """Why this cannot be saved, as others have been here; the rows are as they are stored."""
        options = self.instance._meta
        page = reverse(
            f"admin:{options.app_label}_{options.model_name}_change", args=[self.instance.pk]
        )
        known = _unpack(self.data.get(OPENED_WITH, ""))
        if not known:
            return format_html(NOT_TOLD, page)
        now = self._digests()
        changed = [name for name, digest in now.items() if known.get(name) != digest]
        if not changed:
            return None
        labels = ", ".join(self._label(name) for name in changed)
        return format_html(CHANGED, labels, _last_change(self.rows(), changed), page)

    def _digests(self) -> dict[str, str]:
        """A digest of each column that this form writes, by its name."""
        return {name: _digest(row, name) for row in self.rows() for name in self._columns(row)}

    def _columns(self, row: models.Model) -> list[str]:
        options, watched = row._meta, registry.get(type(row))
        known = {one.name for one in (*options.concrete_fields, *options.many_to_many)}
        if watched is not None:
            known -= watched.ignored
        written = [name for name, field in self.fields.items() if not field.disabled]
        return [name for name in (*written, *self.also_written) if name in known]

    def _label(self, name: str) -> str:
        field = self.fields.get(name)
        return str((field and field.label) or name.replace("_", " ")).lower()


def _held(row: models.Model) -> bool:
    """Bring the row up to what is stored, or tell that it is gone.

    Nobody else changes it until the transaction ends, if there is one. It was loaded before it could be held: who
    held it meanwhile has perhaps written columns that this form does not show, such as the key of a client.
    """
    using = router.db_for_write(type(row))
    stored = type(row)._base_manager.using(using)
    if transaction.get_connection(using).in_atomic_block:
        stored = stored.select_for_update(no_key=True)
    try:
        row.refresh_from_db(from_queryset=stored)
    except ObjectDoesNotExist:
        return False
    return True


def _digest(row: models.Model, name: str) -> str:
    field: Any = row._meta.get_field(name)
    if field.many_to_many:
        value: Any = sorted(getattr(row, name).order_by().values_list("pk", flat=True))
    else:
        value = field.value_from_object(row)
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _pack(digests: Mapping[str, str]) -> str:
    return " ".join(f"{name}={digest}" for name, digest in digests.items())


def _unpack(text: str) -> dict[str, str]:
    """What was packed; of anything else as little as it is worth."""
    parts = (part.partition("=") for part in text.split())
    return {name: digest for name, equals, digest in parts if equals}


def _last_change(rows: Sequence[models.Model], names: Sequence[str]) -> SafeString | str:
    """By whom and when one of these was changed last, as far as the audit trail tells."""
    about = Q()
    for row in rows:
        about |= Q(kind=row._meta.label_lower, object_id=str(row.pk))
    latest = AuditEntry.objects.filter(about).defer("changes")[:ENTRIES_LOOKED_AT]
    for entry in latest:
        if not set(names).isdisjoint(entry.fields.split(", ")):
            return format_html(", last by {} at {}", actor_of(entry), moment(entry.at))
    return ""
