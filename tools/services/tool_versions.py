"""Versions of tools: kept at every change, compared, and gone back to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from tools.models import Tool, ToolVersion
from tools.models.audit import Action
from tools.services.audit.acting import current_actor, current_doing, doing
from tools.services.audit.values import same
from tools.services.audit.watched import TIMES, Row
from tools.services.tool_status import argument_faults, handler_faults

BATCH: Final = 200
EARLIER: Final = "As it was before versions were kept."


class Outdated(Exception):
    """The tool has changed since somebody looked at it."""


class NoVersion(LookupError):
    """There is no such tool, or no such version of it."""


def keep_versions(rows: Sequence[Row], using: str) -> None:
    """Keep what tools have become as their newest versions, in the transaction of the change."""
    living = [row for row in rows if row.after is not None]
    kept = ToolVersion.objects.using(using)
    latest = dict(
        kept.filter(tool__in=[row.pk for row in living])
        .order_by()
        .values_list("tool")
        .annotate(Max("number"))
    )
    actor, note = current_actor(), current_doing().note
    versions = []
    for row in living:
        number = latest.get(row.pk, 0)
        if not number and row.before is not None:
            number = 1
            versions.append(
                ToolVersion(tool_id=row.pk, number=1, definition=row.before, note=EARLIER)
            )
        versions.append(
            ToolVersion(
                tool_id=row.pk,
                number=number + 1,
                definition=row.after,
                fields=", ".join(differing(row.before, row.after)) if row.before else "",
                actor_kind=actor.kind,
                actor=actor.name[:200],
                note=note,
            )
        )
    kept.bulk_create(versions, batch_size=BATCH)


def definition_of(tool: Tool) -> dict[str, Any]:
    """What a version of the tool would be, as it is now."""
    fields = (field.name for field in Tool._meta.concrete_fields)
    return {name: getattr(tool, name) for name in fields if name not in TIMES}


def differing(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> list[str]:
    """The names of the fields in which two definitions differ."""
    first, second = one or {}, other or {}
    return [
        name
        for name in dict.fromkeys([*first, *second])
        if not same(first.get(name), second.get(name))
    ]


def latest_number(tool_pk: int) -> int:
    """The number of a tool's newest version; 0 when none is kept yet."""
    found = ToolVersion.objects.filter(tool=tool_pk).aggregate(Max("number"))["number__max"]
    return int(found or 0)


def revert_tool(pk: int, number: int, *, seen: int, left: Collection[str] = ()) -> Tool:
    """Make a tool what it was in that version; `left` are the fields that stay as they are.

    `seen` is the newest version that whoever decided on it knew. Going back is a change like any other:
    it is checked, and makes a new version.

    Raises:
        NoVersion: there is no such version.
        Outdated: the tool has changed since.
        ValidationError: the definition is not sound any more; nothing was changed.
    """
    with transaction.atomic():
        tool: Tool | None = Tool.objects.select_for_update().filter(pk=pk).first()
        version = ToolVersion.objects.filter(tool=pk, number=number).first()
        if tool is None or version is None:
            raise NoVersion
        if latest_number(pk) != seen:
            raise Outdated
        for name, value in revertible(version.definition, left).items():
            setattr(tool, name, value)
        if faults := handler_faults(tool.source, tool.handler):
            raise ValidationError({"handler": [fault.split(": ", 1)[-1] for fault in faults]})
        if faults := argument_faults(tool, tool.input_schema):
            raise ValidationError({"input_schema": faults})
        with doing(f"Reverted to version {number}.", Action.REVERTED):
            tool.save()
    return tool


def revertible(definition: Mapping[str, Any], left: Collection[str]) -> dict[str, Any]:
    """What of a kept definition can be put back: fields that tools still have, but those `left`."""
    known = {field.name for field in Tool._meta.concrete_fields} - TIMES - {*left}
    return {name: value for name, value in definition.items() if name in known}
