"""The line that is written for every request to an API: what was asked, never with which values."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from tools.backends.http_api.outgoing import Outgoing
from tools.backends.ports import ports

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Record:
    """One request under way; `status` and `size` are filled in when they are known."""

    service: str
    request: Outgoing
    attempt: int
    hop: int
    began_at: float
    status: int | None = None
    size: int = 0

    def write(self, failure: str = "") -> None:
        """Log the request, now that it is over."""
        fields = {
            "service": self.service,
            "method": self.request.method,
            "path": self.request.template,
            "status": self.status,
            "ms": round((time.monotonic() - self.began_at) * 1000, 1),
            "bytes": self.size,
            "attempt": self.attempt + 1,
            "redirects": self.hop,
        }
        if failure:
            fields["failure"] = failure
        logger.info("Request to the API %s", self.service, extra={"fields": fields})
        ports.api_calls += 1
