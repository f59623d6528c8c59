"""What goes into the router and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as a client sees it.

    `read_only` and `destructive` are true where that is known. False tells nothing: a control plane
    also says it of tools whose own server said neither.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = False
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The tool for a message. `missing` are required arguments that the message does not tell.

    `any_of` are arguments without one of which the tool would change nothing, where none was told.
    `sure` says that the message plainly orders this call; one that is not is to be asked about first.
    `reads` says that the tool changes nothing, `for_good` that what it does may not be undone.
    `several` says that the message seems to want more than this one call, `left_out` are the values
    of it, as they were said, that the call has no place for.
    """

    tool: str
    arguments: Mapping[str, Any]
    missing: tuple[str, ...]
    reason: str
    score: float
    any_of: tuple[str, ...] = ()
    sure: bool = False
    reads: bool = False
    for_good: bool = True
    several: bool = False
    left_out: tuple[str, ...] = ()
