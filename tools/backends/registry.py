"""Which backend serves which source. Filled while apps load, closed with the first look-up."""

from __future__ import annotations

from collections.abc import Callable

from tools.backends.base import Backend
from tools.contracts import ToolSource


class Registry:
    """Sources and their backends; refuses a second backend for a source and late additions."""

    def __init__(self) -> None:
        self._backends: dict[ToolSource, Backend] = {}
        self._closed = False

    def register(self, source: ToolSource, backend: Backend) -> None:
        """Let `backend` serve the tools of `source`."""
        if self._closed:
            raise RuntimeError(f"The registry is closed; register {source} while apps load")
        if source in self._backends:
            raise RuntimeError(f"{source} has a backend already")
        self._backends[source] = backend

    def put_before(self, source: ToolSource, wrap: Callable[[Backend], Backend]) -> None:
        """Let what `wrap` makes of the backend of `source` serve in its place."""
        self._backends[source] = wrap(self._backends[source])

    def get(self, source: ToolSource) -> Backend | None:
        """The backend of `source`, or None when this build has none."""
        self._closed = True
        return self._backends.get(source)


registry = Registry()
