"""The way from the services to the workers that look at upstream servers. Set while apps load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class UpstreamWorkers:
    """`send` takes the id of a question, the key of its server and the seconds it may take."""

    send: Callable[[str, int, int], None] | None = None


upstream_workers = UpstreamWorkers()
