"""The way from the services to the workers that build and measure indexes. Set while apps load."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class IndexWorkers:
    """Hands tasks to workers by name; a broker that is away only delays them.

    A build that nobody was told about is found by `resume_indexes`, which beat sends.
    """

    send: Callable[[str, Sequence[Any]], None] | None = None

    def plan(self, version_id: int) -> bool:
        """Let the documents of a version be worked on. Whether that could be sent."""
        return self._send("plan_index", [version_id])

    def ingest(self, version_id: int, documents: Sequence[int]) -> bool:
        return self._send("ingest_documents", [version_id, list(documents)])

    def assemble(self, version_id: int) -> bool:
        return self._send("assemble_index", [version_id])

    def evaluate(self, job_id: int) -> bool:
        """Let an evaluation be worked on; `resume_evaluations` finds one that nobody was told about."""
        return self._send("run_evaluation", [job_id])

    def _send(self, task: str, arguments: Sequence[Any]) -> bool:
        if self.send is None:
            return False
        try:
            self.send(task, arguments)
        except Exception as fault:  # noqa: BLE001 - the broker's errors share no base class
            logger.warning("%s could not be sent and is resumed later: %s", task, fault)
            return False
        return True


index_workers = IndexWorkers()
