"""Searching a set of tools: by words at once, by meaning as soon as that is there.

All of it runs on two threads of its own, so that neither the event loop nor other calls wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from tools.backends.tool_search.meaning import Meaning
from tools.backends.tool_search.ranking import BOTH, WORDS, Match, ranked
from tools.backends.tool_search.texts import ToolText, tool_text
from tools.backends.tool_search.words import WordIndex
from tools.contracts import ToolSpec
from tools.pipelines.blocks.embedder import Embedder

# Long enough to load the model and embed a few tools, short enough for any tool's time limit.
PATIENCE: Final = 0.75
MOST_TEXTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to: how it compared, and every tool that matches, best first."""

    matching: str
    matches: Sequence[Match]


class Finder:
    """Searches tools, keeping what it worked out about them.

    A tool's words are worked out again when its definition changed; what is rare among them is
    judged within the tools of one search only, so others have no influence on the outcome.
    """

    def __init__(
        self,
        load: Callable[[], Embedder],
        path: Callable[[], Path],
        *,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._executor = ThreadPoolExecutor(2, thread_name_prefix="tool-search")
        self._meaning = Meaning(load, path, self._executor, clock)
        self._patience = patience
        self._texts: dict[str, ToolText] = {}
        self._index = lru_cache(maxsize=32)(WordIndex)

    async def find(self, query: str, specs: Sequence[ToolSpec]) -> Found:
        """The tools of `specs` that match `query`."""
        loop = asyncio.get_running_loop()
        texts = await loop.run_in_executor(self._executor, self._read, specs)
        meant = await self._meaning.prepare(texts, self._patience)
        return await loop.run_in_executor(self._executor, self._search, query, texts, meant)

    def _search(self, query: str, texts: tuple[ToolText, ...], meant: bool) -> Found:
        words = self._index(texts).marks(query)
        meaning = self._meaning.marks(query, texts) if meant else None
        matching = WORDS if meaning is None else BOTH
        return Found(matching, ranked(query, texts, words, meaning))

    def _read(self, specs: Sequence[ToolSpec]) -> tuple[ToolText, ...]:
        if len(self._texts) > MOST_TEXTS:
            self._texts.clear()
        return tuple(self._text(spec) for spec in specs)

    def _text(self, spec: ToolSpec) -> ToolText:
        known = self._texts.get(spec.name)
        # A new version of the catalogue brings new objects for the same definitions.
        if known is None or known.spec != spec:
            known = self._texts[spec.name] = tool_text(spec)
        return known
