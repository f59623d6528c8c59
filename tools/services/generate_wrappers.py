"""Wrappers for the services of a registry: fetched, made, and written to a folder or a zip file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from tools.services.fetch_tools import Asking, Unfetched, fetch_all
from tools.wrappers.archive import to_zip
from tools.wrappers.kinds import WrapperKind
from tools.wrappers.making import MadeFile, make_wrappers
from tools.wrappers.quoting import one_line
from tools.wrappers.registry import ServiceEntry
from tools.wrappers.rendering import Templates
from tools.wrappers.tree import write_tree
from tools.wrappers.unmade import Unmade
from tools.wrappers.wrapped import wrap_service

# What services say is shown in terminals.
LONGEST_LINE: Final = 500


class NothingToDo(Exception):
    """No service is left to generate for. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted. `only` are names of services; none means all that are enabled."""

    entries: tuple[ServiceEntry, ...]
    kinds: tuple[WrapperKind, ...]
    only: tuple[str, ...] = ()
    templates: Path | None = None

    def chosen(self) -> list[ServiceEntry]:
        """The services to generate for.

        Raises:
            NothingToDo: there are none, or one that is named is not among them.
        """
        known = {one.name: one for one in self.entries}
        for name in self.only:
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise NothingToDo(f"{name} is not in the registry; there are: {listed}")
            if not known[name].enabled:
                raise NothingToDo(f"{name} is switched off in the registry; enable it first")
        found = [
            one for one in self.entries if one.enabled and (not self.only or one.name in self.only)
        ]
        if not found:
            raise NothingToDo("Every service of the registry is switched off; enable one")
        return found


@dataclass(slots=True)
class Report:
    """What was generated: tools and wrappers by kind for each service, and what went wrong.

    `kept` are numbers of earlier files, by services that did not answer, `spared` by those that have tools which
    could not be made; `ended` what is told of those that the registry asks for no more, and lost files.
    """

    tools: dict[str, int] = field(default_factory=dict)
    wrappers: dict[str, Counter[str]] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)
    spared: Counter[str] = field(default_factory=Counter)
    ended: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """For people: a line for each service, one for all, one for each error."""
        told = [
            f"{name}: {_count(self.tools[name], 'tool')}, {_kinds(wrappers)}"
            for name, wrappers in self.wrappers.items()
        ]
        together: Counter[str] = sum(self.wrappers.values(), Counter())
        services, tools = len(self.wrappers), sum(self.tools.values())
        told.append(
            f"{_count(services, 'service')}, {_count(tools, 'tool')}, "
            f"{_count(together.total(), 'wrapper')} ({_kinds(together)}), "
            f"{_count(len(self.removed), 'stale file')} removed, "
            f"{self.kept.total() + self.spared.total()} kept, {_count(len(self.errors), 'error')}"
        )
        told += [
            f"{one_line(name, LONGEST_LINE)}: not read this time; {_count(number, 'earlier file')} kept"
            for name, number in self.kept.items()
        ]
        told += [
            f"{one_line(name, LONGEST_LINE)}: {_count(number, 'earlier file')} kept of tools that could not be made"
            for name, number in self.spared.items()
        ]
        told += [one_line(one, LONGEST_LINE) for one in self.ended]
        return told + [f"Error: {one_line(one, LONGEST_LINE)}" for one in self.errors]


def generate_into(output: Path, order: Order, asking: Asking) -> Report:
    """Write the wrappers below `output`, and remove those of earlier runs that are stale.

    Raises:
        NothingToDo: no service is left.
        TreeFault: nothing can be written there.
    """
    files, report, unmade = _make(order, asking)
    stale = _Stale(order, unmade)
    done = write_tree(output, files, stale)
    report.removed = done.removed
    report.kept, report.spared = stale.kept, stale.spared
    report.ended = stale.ended(done.removed)
    report.errors += done.errors
    return report


def generate_zip(order: Order, asking: Asking) -> tuple[bytes, Report]:
    """The wrappers as a zip file; empty when there are none.

    Raises:
        NothingToDo: no service is left.
    """
    files, report, _ = _make(order, asking)
    notes = "\n".join(report.lines()) + "\n"
    return (to_zip(files, notes, datetime.now(UTC)) if files else b""), report


def _make(order: Order, asking: Asking) -> tuple[list[MadeFile], Report, dict[str, Unmade]]:
    """The files, what is told, and of each service that answered what could not be made."""
    entries = order.chosen()
    templates = Templates(order.templates)
    report, files = Report(), []
    unmade: dict[str, Unmade] = {}
    fetched = fetch_all(entries, asking)
    for entry in entries:
        found = fetched[entry.name]
        if isinstance(found, Unfetched):
            report.errors.append(f"{entry.name}: {found.reason}")
            continue
        service = wrap_service(entry, found.version, found.tools)
        made = make_wrappers(service, order.kinds, templates)
        faults = {**found.faults, **service.faults}
        errors = [f"{entry.name}/{name}: {why}" for name, why in faults.items()] + made.errors
        report.tools[entry.name] = len(service.tools)
        report.wrappers[entry.name] = made.counts
        report.errors += errors
        failed = {*faults, *made.failed}
        unmade[entry.name] = Unmade(entry.name, failed, nameless=found.nameless)
        files += made.files
    return files, report, unmade


class _Stale:
    """Which earlier files nothing stands behind any more.

    All of services that the registry does not name any more, or that it switches off: somebody decided that.
    Of the others, only of those that answered, and not of a tool that could not be made: what is missing for that
    may be back the next time. `kept` counts the files of services that did not answer, `spared` those of such tools.
    """

    def __init__(self, order: Order, unmade: Mapping[str, Unmade]) -> None:
        self._only = order.only
        self._folders = {kind.folder for kind in order.kinds}
        self._enabled = {one.name: one.enabled for one in order.entries}
        self._unmade = unmade
        self.kept: Counter[str] = Counter()
        self.spared: Counter[str] = Counter()

    def __call__(self, path: PurePosixPath) -> bool:
        service, folder = path.parts[:2]
        # Whoever asks for some services says nothing about the others, not even that they are gone.
        if folder not in self._folders or (self._only and service not in self._only):
            return False
        if not self._enabled.get(service):
            return True
        unmade = self._unmade.get(service)
        if unmade is None:
            self.kept[service] += 1
            return False
        kept = unmade.keeps(path)
        if kept:
            self.spared[service] += 1
        return not kept

    def ended(self, removed: Iterable[str]) -> list[str]:
        """A line for each service that is asked for no more, of the files that went with it."""
        counts = Counter(PurePosixPath(path).parts[0] for path in removed)
        return [
            f"{name}: {'switched off' if name in self._enabled else 'no longer in the registry'}; "
            f"{_count(number, 'earlier file')} removed"
            for name, number in counts.items()
            if not self._enabled.get(name)
        ]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _kinds(wrappers: Counter[str]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in wrappers.items()) or "no wrappers"
