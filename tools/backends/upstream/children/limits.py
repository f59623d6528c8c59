"""How many children one process has at most."""

from __future__ import annotations

import threading
from typing import Final

from tools.backends.upstream.channel import ChannelFault

DEFAULT_MOST: Final = 32


class Places:
    """Counts the children of this process, on whatever loop and thread they are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many children there are now."""
        return self._taken

    def take(self) -> None:
        """Room for one more child.

        Raises:
            ChannelFault: there are as many as there may be.
        """
        most = _most()
        with self._lock:
            if self._taken >= most:
                raise ChannelFault(
                    f"too many child processes: this process may have {most} "
                    "(UPSTREAM_MAX_CHILDREN)",
                    sent=False,
                )
            self._taken += 1

    def give_back(self) -> None:
        """One child is gone."""
        with self._lock:
            self._taken -= 1


places: Final = Places()


def _most() -> int:
    from django.conf import settings

    return int(settings.CONTROL_PLANE.get("UPSTREAM_MAX_CHILDREN", DEFAULT_MOST))
