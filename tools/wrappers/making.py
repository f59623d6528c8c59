"""All wrappers of one service as texts; what cannot be made is told, and keeps nothing else back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tools.wrappers.kinds import WrapperKind, WrapperTemplate
from tools.wrappers.rendering import RenderFault, Templates
from tools.wrappers.wrapped import WrappedService, WrappedTool


@dataclass(frozen=True, slots=True)
class MadeFile:
    """One file, below the output folder."""

    path: PurePosixPath
    text: str
    executable: bool


@dataclass(slots=True)
class Made:
    """The files of a service; what went wrong, and with which tools; wrappers by kind.

    A wrapper may have files beside its first.
    """

    files: list[MadeFile] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    failed: set[str] = field(default_factory=set)


def make_wrappers(
    service: WrappedService, kinds: Sequence[WrapperKind], templates: Templates
) -> Made:
    """Every wrapper of `kinds` for every tool of `service`."""
    made = Made()
    for kind in kinds:
        for template in kind.templates:
            maker = _Maker(kind, template, templates, made)
            if template.per_service:
                maker.module(service)
                continue
            for tool in service.tools:
                maker.file(service, tool)
    return made


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes what one template is for."""

    kind: WrapperKind
    template: WrapperTemplate
    templates: Templates
    made: Made

    def file(self, service: WrappedService, tool: WrappedTool | None = None) -> None:
        try:
            text = self.templates.render(self.template, service, tool)
        except RenderFault as fault:
            self._fail(service, tool, str(fault))
            return
        path = self._path(service, tool)
        self.made.files.append(MadeFile(path, text, self.template.executable))
        if self.template is self.kind.templates[0]:
            self.made.counts[self.kind.name] += 1

    def module(self, service: WrappedService) -> None:
        """One file of all tools; a tool that it cannot be made with is left out."""
        good = []
        for tool, fault in self._tried(service):
            if fault:
                self._fail(service, tool, fault)
            else:
                good.append(tool)
        if good or not service.tools:
            self.file(WrappedService(service.entry, service.version, tuple(good)))

    def _tried(self, service: WrappedService) -> Iterator[tuple[WrappedTool, str]]:
        try:
            self.templates.render(self.template, service)
        except RenderFault:
            for tool in service.tools:
                alone = WrappedService(service.entry, service.version, (tool,))
                try:
                    self.templates.render(self.template, alone)
                except RenderFault as fault:
                    yield tool, str(fault)
                else:
                    yield tool, ""
        else:
            yield from ((tool, "") for tool in service.tools)

    def _fail(self, service: WrappedService, tool: WrappedTool | None, fault: str) -> None:
        whose = f"{service.name}/{tool.name}" if tool else service.name
        self.made.failed.update([tool.name] if tool else [one.name for one in service.tools])
        self.made.errors.append(f"{whose}: {self.template.name}: {fault}")

    def _path(self, service: WrappedService, tool: WrappedTool | None) -> PurePosixPath:
        """Made of safe names only: nothing a service says leads out of the folder."""
        names = {"module": service.module}
        if tool is not None:
            names |= {"stem": tool.stem, "script": tool.script, "skill": tool.skill}
        return PurePosixPath(service.name, self.kind.folder, self.template.output.format(**names))
