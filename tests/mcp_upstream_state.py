"""What the scriptable upstream keeps in its folder: how it shall behave, and what happened to it.

Files rather than memory, so that both outlive a kill and are the same over every transport.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Switches:
    """How the server behaves.

    `hang` is what is never answered: "connect", "list", "call", "all" or a method. `refuse` is a status of
    HTTP; over stdio the program then ends at once. `forget` makes sessions unknown that were opened
    when it had another value. `crash_calls` is how many of the coming tool calls end the program.
    `stream` answers over event streams even where there is only an answer; `break_stream` cuts
    such a stream before the answer. `era` is "both", "modern" or "handshake". `more_tools` are
    definitions that are listed too, and `without` the names of things that are not. `insist` makes
    a tool with a question ask those who cannot be asked ("ask"), or refuse them ("refuse"), or ask
    for an answer of the client's model instead ("sample").
    `trickle_ms` is the pause after every byte of an answer to a call over HTTP.
    """

    hang: str = ""
    delay_ms: int = 0
    refuse: int = 0
    garbage: bool = False
    no_tools: bool = False
    bad_tools: bool = False
    era: str = "both"
    page_size: int = 0
    stream: bool = False
    break_stream: bool = False
    forget: int = 0
    crash_calls: int = 0
    descriptions: Mapping[str, str] = field(default_factory=dict)
    more_tools: Sequence[Any] = ()
    without: Sequence[str] = ()
    insist: str = ""
    trickle_ms: int = 0

    def hangs_on(self, method: str) -> bool:
        """Whether a request of that method is left without an answer."""
        kinds = {"initialize": "connect", "server/discover": "connect", "tools/call": "call"}
        kind = "list" if method.endswith("/list") else kinds.get(method)
        return self.hang in {"all", method} or (self.hang != "" and self.hang == kind)


class Folder:
    """The files of one server."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._switches = path / "switches.json"
        self._events = path / "events.jsonl"

    def switches(self) -> Switches:
        """The switches as they are set now."""
        try:
            return Switches(**json.loads(self._switches.read_bytes()))
        except FileNotFoundError:
            return Switches()

    def set(self, **changes: Any) -> Switches:
        """Change some of them, all at once for whoever reads."""
        switches = replace(self.switches(), **changes)
        written = self._switches.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(vars(switches)))
        written.replace(self._switches)
        return switches

    def note(self, event: str, **facts: Any) -> None:
        """Write down that something happened; one write each, so that none is torn."""
        line = json.dumps({"event": event, **facts}).encode() + b"\n"
        handle = os.open(self._events, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def events(self, event: str = "") -> list[dict[str, Any]]:
        """What happened so far, or only the events of one kind."""
        if not self._events.exists():
            return []
        lines = [json.loads(line) for line in self._events.read_text().splitlines()]
        return [line for line in lines if event in {"", line["event"]}]
