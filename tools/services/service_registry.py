"""The service registry: rows to `services.yaml` and back."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from tools.conf import ConfigurationFault
from tools.models import RegisteredService
from tools.services.apply_config import read_document
from tools.services.audit.acting import doing
from tools.wrappers.registry import ServiceEntry

SERVICES: Final = "services"
KNOWN: Final = ("name", "url", "enabled", "key_variable")
MOST: Final = 1_000
_Row = tuple[RegisteredService, frozenset[str]]
EMPTY: Final = (
    "The registry has no services. Add one in the admin under Registry, import a file with "
    "`manage.py service_registry import services.yaml`, or name the file with --services."
)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do, by name. `told` says of each new or changed one what it is."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """What this is known by between the page that shows it and the one that saves it."""
        said = repr((self.added, self.changed, self.same, list(self.told.items())))
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def registered() -> list[ServiceEntry]:
    """Every service of the registry, by name."""
    return [ServiceEntry(*_values(row)) for row in RegisteredService.objects.order_by("name")]


def read_registry(text: str) -> list[ServiceEntry]:
    """The services of a file, which is a list of them or has one under `services`.

    Raises:
        ConfigurationFault: with a line for each fault.
    """
    return [ServiceEntry(*_values(row)) for row, _ in _read(text)]


def _read(text: str) -> list[_Row]:
    """Rows as a file has them, none of them saved, each with the fields it names."""
    document = read_document(text)
    entries = document.get(SERVICES) if isinstance(document, Mapping) else document
    if isinstance(document, Mapping) and set(document) - {SERVICES}:
        raise ConfigurationFault(["the only section of the file is services"])
    if not isinstance(entries, list):
        raise ConfigurationFault(["the file must have a list of services"])
    if len(entries) > MOST:
        raise ConfigurationFault([f"there are more than {MOST:,} services"])
    faults: list[str] = []
    found = [_entry(number, entry, faults) for number, entry in enumerate(entries, 1)]
    names = Counter(one[0].name for one in found if one)
    faults += [f"{name} is in the file more than once" for name in names if names[name] > 1]
    if faults:
        raise ConfigurationFault(faults)
    return [one for one in found if one]


def export_registry() -> dict[str, Any]:
    """The document of all services. A variable that has its usual name is not named."""
    return {
        SERVICES: [
            {
                "name": one.name,
                "url": one.url,
                "enabled": one.enabled,
                **({"key_variable": one.key_variable} if one.key_variable else {}),
            }
            for one in registered()
        ]
    }


@doing("A service registry was imported.")
def import_registry(text: str, *, dry_run: bool = False, digest: str = "") -> Imported:
    """Make the registry have the services of a file, all or none; those it does not name stay.

    Raises:
        ConfigurationFault: with a line for each fault, or `digest` is not that of what would be done any
            more; nothing was saved.
    """
    entries = _read(text)
    try:
        with transaction.atomic():
            found, changing = _sorted_out(entries)
            if digest and found.digest != digest:
                raise ConfigurationFault(["The services have changed since. Look at it again."])
            for row in () if dry_run else changing:
                row.save()
    except (IntegrityError, ValidationError) as fault:
        # What was read fits by itself; its name has been taken meanwhile.
        told = "Somebody else has just saved one of these services. Try again."
        raise ConfigurationFault([told]) from fault
    return found


def _sorted_out(entries: Iterable[_Row]) -> tuple[Imported, list[RegisteredService]]:
    """What the entries mean for the services there are, which nobody else changes until this is done."""
    told: dict[str, str] = {}
    changing: list[RegisteredService] = []
    states: dict[str, list[str]] = {"added": [], "changed": [], "same": []}
    rows = RegisteredService.objects.select_for_update()
    there = {row.name: row for row in rows.filter(name__in=[one.name for one, _ in entries])}
    for wanted, named in entries:
        row = there.get(wanted.name, wanted)
        before = _shown(row) if row is not wanted else {}
        # What the file does not say of a service that is there stays as it is.
        for key in named:
            setattr(row, key, getattr(wanted, key))
        after = _shown(row)
        state = "added" if not before else "same" if before == after else "changed"
        states[state].append(row.name)
        if state != "same":
            told[row.name] = ", ".join(_differences(before, after))
            changing.append(row)
    names = {state: tuple(found) for state, found in states.items()}
    return Imported(**names, told=told), changing


def _values(row: RegisteredService) -> tuple[str, str, bool, str]:
    return row.name, row.url, row.enabled, row.key_variable


def _shown(row: RegisteredService) -> dict[str, str]:
    """What a person decides by, before it is saved: where, whether, and with which key."""
    _, url, enabled, _ = _values(row)
    key = ServiceEntry(*_values(row)).key_name
    return {"url": url, "enabled": "on" if enabled else "off", "key_variable": key}


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return [
        f"{key} {before[key]} -> {new}" if before else f"{key} {new}"
        for key, new in after.items()
        if before.get(key) != new
    ]


def _entry(number: int, entry: Any, faults: list[str]) -> _Row | None:
    """One entry, checked by the rules of the rows."""
    if not isinstance(entry, Mapping):
        faults.append(f"entry {number} is not a service with name, url and enabled")
        return None
    called = str(entry.get("name", f"entry {number}"))[:80]
    unknown = [str(key)[:40] for key in entry if key not in KNOWN]
    faults += [f"{called}: {key!r} is not known; known: {', '.join(KNOWN)}" for key in unknown]
    values = {key: entry[key] for key in KNOWN if key in entry}
    wrong = [key for key, value in values.items() if not isinstance(value, _type(key))]
    faults += [f"{called}: {key} must be {_WORDS[_type(key)]}" for key in wrong]
    if wrong:
        return None
    row = RegisteredService(**values)
    try:
        # The rules of the database are the same; a file can be read without one.
        row.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as fault:
        faults += [
            f"{called}: {key}: {told}" for key, all_ in fault.message_dict.items() for told in all_
        ]
        return None
    return row, frozenset(values)


_WORDS: Final = {str: "a text", bool: "true or false"}


def _type(key: str) -> type:
    return bool if key == "enabled" else str
