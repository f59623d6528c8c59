"""Operations of an OpenAPI document as tools: shown first, saved when the operator says so.

What the last import gave is kept with the service. A later import changes what still is as it was
imported, and leaves alone what an operator has changed since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from tools.contracts import ToolSource
from tools.models import ApiOperation, ApiService, Tool
from tools.models.http_rules import AUTH_KINDS
from tools.openapi import Changes, Imported, ImportedOperation, diff, operations, read_document
from tools.operations import Operation
from tools.services.audit.acting import doing

# Not the shape of the answer: APIs often answer a little otherwise than they announce, and what is
# shortened to the token budget has another shape. Clients would refuse both.
TOOL_FIELDS: Final = (
    *("title", "description", "input_schema"),
    *("read_only", "destructive", "idempotent"),
)


class Outdated(Exception):
    """What was shown is not what would be saved any more."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an import would do. `collisions` are names that other tools have, by operation.

    `names` are those of the tools that are there already, by operation: an import renames none.
    """

    imported: Imported
    changes: Changes
    collisions: Mapping[str, str]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Applied:
    """What an import did, as the keys of operations; `refused` with the reason."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    switched_off: tuple[str, ...]
    kept_edits: tuple[str, ...]
    refused: Mapping[str, str]


def open_service(
    slug: str,
    text: str | bytes,
    *,
    origin: str = "",
    base_url: str,
    prefix: str,
    networks: Collection[str],
) -> ApiService:
    """The service called `slug`, or a new one, not saved yet, as the document describes it.

    `origin` is where the document was had from, which completes addresses in it.

    Raises:
        DocumentFault: it is not an OpenAPI document.
        ValidationError: a new service would have no address.
    """
    service = ApiService.objects.filter(slug=slug).first()
    if service is None:
        service = new_service(text, origin=origin)
        service.slug, service.prefix = slug, prefix
        service.base_url = (base_url or service.base_url).rstrip("/")
        if not service.base_url:
            raise ValidationError(
                "The document names no address of the API; give one (--base-url)."
            )
    elif base_url:
        service.base_url = base_url
    if networks:
        service.allowed_networks = sorted({*service.allowed_networks, *networks})
    return service


def new_service(text: str | bytes, *, origin: str = "") -> ApiService:
    """A service as the document describes it, not saved and not named yet; `origin` is as in `open_service`.

    It has no address if the document names none.

    Raises:
        DocumentFault: it is not an OpenAPI document.
    """
    imported = operations(read_document(text), address=origin)
    absolute = [one for one in imported.servers if one.startswith(("http://", "https://"))]
    service = ApiService(title=imported.title[:200])
    service.base_url = absolute[0].rstrip("/") if absolute else ""
    _sign_in(service, imported)
    return service


def _sign_in(service: ApiService, imported: Imported) -> None:
    """Take the first way to sign in that is known here; its key is entered by an operator."""
    for scheme in imported.security:
        if scheme.kind in dict(AUTH_KINDS):
            service.auth, service.auth_name = scheme.kind, scheme.name
            return


def preview(text: str | bytes, service: ApiService) -> Preview:
    """What importing the document into this service, which may not be saved yet, would do.

    Raises:
        DocumentFault: it is not an OpenAPI document.
    """
    imported = operations(read_document(text), prefix=service.prefix)
    names = {row.imported_key: row.tool.name for row in _rows(service)}
    changes = diff(_there(service.imported, imported, names), imported)
    return Preview(imported, changes, _collisions(imported, names), names)


def digest_of(text: str, service: ApiService, found: Preview) -> str:
    """What a preview is known by between the page that shows it and the one that saves it.

    Of all that it follows from: another document, address, prefix or import makes another one, and so do
    tools that have come or gone since.
    """
    follows_from = (
        *(text, service.base_url, service.prefix, service.imported),
        *(found.collisions, found.names),
    )
    written = json.dumps(follows_from, sort_keys=True)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def apply_draft(service: ApiService, digest: str, chosen: Collection[str]) -> Applied:
    """Import the document that is kept with the service, if it would do what was shown under `digest`.

    Raises:
        Outdated: it would do something else by now, or another document is kept.
    """
    # Two who save the same preview wait for each other; the second finds that it is done.
    held = ApiService.objects.select_for_update().filter(pk=service.pk).first()
    if held is None or not held.draft:
        raise Outdated
    found = preview(held.draft, held)
    if digest != digest_of(held.draft, held, found):
        raise Outdated
    held.draft = ""
    return apply(found, held, chosen)


@doing("An OpenAPI document was imported.")
def apply(found: Preview, service: ApiService, chosen: Collection[str] | None = None) -> Applied:
    """Save what was shown; `chosen` are the keys of the operations wanted, all when None.

    Operations that are no longer in the document are switched off, not deleted.
    """
    wanted = [one for one in found.imported.operations if chosen is None or one.key in chosen]
    known = {row.imported_key: row for row in _rows(service)}
    done = _Done()
    with transaction.atomic():
        service.save()
        for one in wanted:
            if one.key in found.collisions:
                reason = f"Another tool is named {found.collisions[one.key]}"
                done.refused[one.key] = reason
            elif one.key in known:
                _merge(known[one.key], service.imported.get(one.key, {}), one, done)
            else:
                _add(service, one, done)
        gone = set(known) - {one.key for one in found.imported.operations} - {""}
        done.switched_off += _switch_off(known[key] for key in sorted(gone))
        kept = {key: value for key, value in service.imported.items() if key in known}
        # What was refused is not imported: a later import finds it as this one did.
        taken = (one for one in wanted if one.key not in done.refused)
        service.imported = {**kept, **{one.key: one.to_json() for one in taken}}
        service.imported_at = timezone.now()
        service.save()
    return Applied(
        tuple(done.added),
        tuple(done.changed),
        tuple(done.switched_off),
        tuple(done.kept_edits),
        done.refused,
    )


class _Done:
    """What has been done so far."""

    def __init__(self) -> None:
        self.added: list[str] = []
        self.changed: list[str] = []
        self.switched_off: list[str] = []
        self.kept_edits: list[str] = []
        self.refused: dict[str, str] = {}


def _rows(service: ApiService) -> Iterable[ApiOperation]:
    """The operations that are saved; a service that is not saved itself has none."""
    return ApiOperation.objects.filter(service=service.pk).select_related("tool")


def _there(
    before: Mapping[str, Any], imported: Imported, names: Mapping[str, str]
) -> dict[str, Any]:
    """What the last import gave of the tools that are there. Another name is no change: they keep theirs."""
    called = {one.key: one.name for one in imported.operations}
    return {
        key: {**one, "name": called.get(key, one.get("name"))}
        for key, one in before.items()
        if key in names
    }


def _collisions(imported: Imported, names: Mapping[str, str]) -> dict[str, str]:
    wanted = {one.name: one.key for one in imported.operations if one.key not in names}
    taken = Tool.objects.filter(name__in=wanted)
    return {wanted[name]: name for name in taken.values_list("name", flat=True)}


def _add(service: ApiService, one: ImportedOperation, done: _Done) -> None:
    tool = Tool(name=one.name, tags=list(one.tags), requires_context_management=True)
    tool.source = ToolSource.HTTP_API
    for name in TOOL_FIELDS:
        setattr(tool, name, getattr(one, name))
    row = ApiOperation(service=service, imported_key=one.key)
    row.take(one.operation)
    row.configure(tool)
    try:
        with transaction.atomic():
            tool.save()
            row.tool = tool
            row.save()
    except ValidationError as fault:
        done.refused[one.key] = "; ".join(fault.messages)
    else:
        done.added.append(one.key)


def _merge(
    row: ApiOperation, before: Mapping[str, Any], one: ImportedOperation, done: _Done
) -> None:
    """Bring what was not edited up to date."""
    now = one.to_json()
    tool, edited, changed = row.tool, False, False
    for name in TOOL_FIELDS:
        if name in before and getattr(tool, name) != before[name]:
            edited = True
        elif getattr(tool, name) != now[name]:
            setattr(tool, name, now[name])
            changed = True
    as_imported = before.get("operation")
    if as_imported is not None and _request(row) != Operation.from_json(as_imported):
        edited = True
    elif _request(row) != one.operation:
        row.take(one.operation)
        changed = True
    if edited:
        done.kept_edits.append(one.key)
    if not changed:
        return
    try:
        with transaction.atomic():
            tool.save()
            row.save()
    except ValidationError as fault:
        done.refused[one.key] = "; ".join(fault.messages)
    else:
        done.changed.append(one.key)


def _request(row: ApiOperation) -> Operation:
    return Operation.from_json(row.written())


def _switch_off(rows: Iterable[ApiOperation]) -> list[str]:
    switched = []
    for row in rows:
        if row.tool.enabled:
            row.tool.enabled = False
            row.tool.save()
            switched.append(row.imported_key)
    return switched
