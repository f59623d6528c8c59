"""The issuer's keys, at hand in memory and refreshed when they age or a token names an unknown one.

While the issuer is away the keys of the last success go on working, for a day at most: longer would
let a key live that the issuer withdrew. Tokens that name unknown keys make us ask the issuer at most
once per cool-down, however many there are.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from tools.oauth.issuer import IssuerFault
from tools.oauth.keys import KeySet, SigningKey

logger = logging.getLogger(__name__)

REFRESH_EVERY: Final = 300.0
COOL_DOWN: Final = 30.0
OLDEST: Final = 24 * 3600.0
FIRST_RETRY: Final = 5.0
LAST_RETRY: Final = 60.0


class KeysUnavailable(Exception):
    """Whether a key is the issuer's cannot be told now."""


class KeyCache:
    """Keys of one issuer for one process."""

    def __init__(
        self,
        fetch: Callable[[], Awaitable[KeySet]],
        issuer: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._issuer = issuer
        self._clock = clock
        self._keys: KeySet | None = None
        self._loaded_at = 0.0
        self._asked_at: float | None = None
        self._failing = False
        self._flight: asyncio.Task[None] | None = None
        self.version = 0

    def find(self, kid: str | None, algorithm: str) -> tuple[SigningKey, ...]:
        """The keys a signature may be of; none when the issuer does not publish one.

        Raises:
            KeysUnavailable: the issuer could not be asked.
        """
        keys = self._usable()
        found = keys.find(kid, algorithm) if keys is not None else ()
        if not found and (keys is None or self._failing):
            raise KeysUnavailable
        return found

    def worth_asking(self, kid: str | None, algorithm: str) -> bool:
        """Whether the issuer may be asked for a key that is not here, and may know it."""
        keys = self._usable()
        if keys is not None and keys.find(kid, algorithm):
            return False
        if self._flight is not None and not self._flight.done():
            return True
        return self._asked_at is None or self._clock() - self._asked_at >= COOL_DOWN

    async def ask(self) -> None:
        """Ask the issuer on behalf of a token; whoever comes meanwhile waits for the same answer."""
        if self._flight is None or self._flight.done():
            self._asked_at = self._clock()
        await self.refresh()

    async def refresh(self) -> None:
        """Ask the issuer now. What comes of it shows in `find`."""
        if self._flight is None or self._flight.done():
            self._flight = asyncio.create_task(self._load())
        # One who stops waiting must not stop the others.
        await asyncio.shield(self._flight)

    async def run(self) -> None:
        """Refresh for as long as the process lives; sooner again after a failure."""
        retry = FIRST_RETRY
        while True:
            await self.refresh()
            pause, retry = (
                (retry, min(retry * 2, LAST_RETRY))
                if self._failing
                else (REFRESH_EVERY, FIRST_RETRY)
            )
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Stop asking."""
        if self._flight is not None:
            self._flight.cancel()
            await asyncio.gather(self._flight, return_exceptions=True)

    def _usable(self) -> KeySet | None:
        if self._keys is None or self._clock() - self._loaded_at > OLDEST:
            return None
        return self._keys

    async def _load(self) -> None:
        try:
            fetched = await self._fetch()
        except IssuerFault as fault:
            self._failing = True
            logger.warning("The keys of %s cannot be read: %s", self._issuer, fault)
            return
        except Exception:
            # The refresher must outlive any single fault, or new keys stop arriving.
            self._failing = True
            logger.exception("Reading the keys of %s failed on a bug", self._issuer)
            return
        if self._keys is None or fetched.source != self._keys.source:
            self.version += 1
            logger.info("%s publishes %d keys", self._issuer, len(fetched.keys))
        self._keys, self._loaded_at, self._failing = fetched, self._clock(), False
