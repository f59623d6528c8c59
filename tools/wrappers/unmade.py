"""What could not be made this time, and which earlier files are therefore kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from tools.wrappers.kinds import KINDS
from tools.wrappers.wrapped import wanted_skill, wanted_stem

# Where one file is for all tools.
_SHARED: Final = frozenset(
    kind.folder for kind in KINDS.values() if any(one.per_service for one in kind.templates)
)
# In place of the number that a name without a letter gets.
_NUMBERED: Final = "tool_0"


class Unmade:
    """The tools of a service that failed, by name.

    `nameless` tells that an entry of its list has no name: any earlier file may be its own.
    """

    def __init__(self, service: str, tools: Iterable[str], *, nameless: bool) -> None:
        patterns = [_files_of(service, name) for name in tools]
        self._any = bool(patterns) or nameless
        self._nameless = nameless
        self._pattern = re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)

    def keeps(self, path: PurePosixPath) -> bool:
        """Whether an earlier file, given below the output folder, may be one of theirs."""
        _, folder, name, *_ = path.parts
        if folder in _SHARED:
            return self._any
        return self._nameless or bool(self._pattern.fullmatch(name.partition(".")[0]))


def _files_of(service: str, tool: str) -> str:
    """How files and folders of a tool are called: where names clash, other tools decide what follows them."""
    stem = re.escape(wanted_stem(tool, _NUMBERED)).replace(_NUMBERED, r"tool_\d+")
    wanted, otherwise = wanted_skill(service, tool, "tool")
    return rf"{stem}(_\d*)*|{re.escape(wanted)}|{re.escape(otherwise)}\d*"
