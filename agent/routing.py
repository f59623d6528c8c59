"""What the agent asks of a router: the port between the chat and the rules that pick a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

Search = Callable[[str], Awaitable[Sequence[str]]]


class Choice(Protocol):
    """A tool that fits a message."""

    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> Mapping[str, Any]: ...
    @property
    def missing(self) -> tuple[str, ...]: ...
    @property
    def reason(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def any_of(self) -> tuple[str, ...]: ...
    @property
    def sure(self) -> bool: ...
    @property
    def reads(self) -> bool: ...
    @property
    def for_good(self) -> bool: ...
    @property
    def several(self) -> bool: ...
    @property
    def left_out(self) -> tuple[str, ...]: ...


class Routes(Protocol):
    """Picks a tool for a message, the same for the same message; None when no tool fits."""

    async def route(self, message: str) -> Choice | None: ...
