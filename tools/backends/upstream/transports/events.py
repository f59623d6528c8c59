"""Server-sent events, read as their bytes arrive."""

from __future__ import annotations

from dataclasses import dataclass

from tools.backends.upstream.transports.wire import MOST_BYTES

_MARK = b"\xef\xbb\xbf"


class TooLong(Exception):
    """An event is longer than any may be."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event that carries data. `kind` is empty where the server named none."""

    kind: str
    data: bytes


class EventReader:
    """Makes events of bytes, wherever these are cut. `last_id` and `retry` are as last told."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.last_id = ""
        # Milliseconds after which the server wants to be asked again.
        self.retry: int | None = None
        self._most_bytes = most_bytes
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._held = 0
        self._kind = ""
        self._after_return = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that `chunk` completes.

        Raises:
            TooLong: the one that is under way is too long.
        """
        if self._after_return and chunk:
            # The second half of a line end whose first half came with the last chunk.
            chunk = chunk.removeprefix(b"\n")
            self._after_return = False
        events: list[Event] = []
        for line in self._lines(chunk):
            if line:
                self._field(line)
                continue
            if any(self._data):
                events.append(Event(self._kind, b"\n".join(self._data)))
            self._data, self._held, self._kind = [], 0, ""
        if self._held + len(self._rest) > self._most_bytes:
            raise TooLong
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes; the rest is kept."""
        if b"\n" not in chunk and b"\r" not in chunk:
            self._rest += chunk
            return []
        self._after_return = chunk.endswith(b"\r")
        lines = chunk.splitlines()
        if self._rest:
            # Its end may be the first thing in the chunk.
            lines[0] = bytes(self._rest) + lines[0]
        self._rest = bytearray() if chunk[-1:] in b"\r\n" else bytearray(lines.pop())
        if lines and not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(_MARK)
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            # Empty lines take room too.
            self._held += len(value) + 8
        elif name == b"event":
            self._kind = value.decode(errors="replace")
        elif name == b"id":
            if b"\0" not in value:
                self.last_id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self.retry = int(value)
