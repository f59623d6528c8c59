"""Filters of the audit trail. None of them asks the trail itself for its choices: that would read all of it."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from typing_extensions import override

from tools.models import AuditEntry
from tools.models.audit import Action, ActorKind
from tools.services.audit.watched import kind_label, registry

MOST_PEOPLE: Final = 100
# What leaves entries and is no watched model.
OTHER_KINDS: Final = {
    "tools.document": "document",
    "axes.accessattempt": "failed log-in",
    "breaker": "breaker",
    "cache": "cache",
    "request log": "request log",
    "audit trail": "audit trail",
}
Choices = list[tuple[str, str]]


def label_of(kind: str) -> str:
    """What objects of a kind are called."""
    return OTHER_KINDS.get(kind) or kind_label(kind)


def actor_of(entry: AuditEntry) -> str:
    """Who made a change, in words."""
    if entry.actor_kind == ActorKind.PERSON:
        return entry.actor
    label = dict(ActorKind.choices).get(entry.actor_kind, entry.actor_kind)
    return f"{label}: {entry.actor}" if entry.actor else str(label)


class _TrailFilter(admin.SimpleListFilter):
    """Takes what addresses hold, and asks the database only for what it could hold."""

    @override
    def value(self) -> str | None:
        given = super().value()
        return given.replace("\0", "\ufffd") if given else given


class WhoFilter(_TrailFilter):
    """By person, or by what acted without one."""

    title = "who"
    parameter_name = "who"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        machines = [one for one in ActorKind if one is not ActorKind.PERSON]
        people = User.objects.filter(is_staff=True).order_by("username")[:MOST_PEOPLE]
        names: Choices = [(f"person:{one.username}", one.username) for one in people]
        return [*names, *((f"{one.value}:", str(one.label)) for one in machines)]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        kind, _, name = (self.value() or "").partition(":")
        if not kind:
            return queryset
        found = queryset.filter(actor_kind=kind)
        return found.filter(actor=name) if name else found


class KindFilter(_TrailFilter):
    """By the kind of object."""

    title = "kind of object"
    parameter_name = "kind"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        watched = {one.kind: kind_label(one.kind) for one in registry.values()}
        return sorted({**watched, **OTHER_KINDS}.items(), key=lambda one: one[1].lower())

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class ActionFilter(_TrailFilter):
    """By what was done."""

    title = "action"
    parameter_name = "action"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(one.value, str(one.label)) for one in Action]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(action=self.value()) if self.value() else queryset


class ObjectFilter(_TrailFilter):
    """One object, as its own page asks for it; shown only then."""

    title = "object"
    parameter_name = "object"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        number = self.value()
        if not number:
            return []
        kind = request.GET.get("kind", "").replace("\0", "\ufffd")
        known = AuditEntry.objects.filter(kind=kind, object_id=number).first()
        return [(number, known.object_name if known else number)]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(object_id=self.value()) if self.value() else queryset
