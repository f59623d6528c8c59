"""The way from the services to the workers that search corpora. Set while apps load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class SearchWorkers:
    """`send` takes a queue, the id of a question, the key of its corpus, its text and its seconds."""

    send: Callable[[str, str, int, str, int], None] | None = None


search_workers = SearchWorkers()
