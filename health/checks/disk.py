"""The check of the disk that state and indexes are on."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

from health_check.exceptions import ServiceUnavailable
from typing_extensions import override

from health.checks.base import ThreadedCheck

MEBIBYTE: Final = 1024 * 1024


@dataclass
class Disk(ThreadedCheck):
    """There is room to write: below `least_mb` databases and Redis begin to fail."""

    name: ClassVar[str] = "disk"

    path: Path = field(default=Path(), repr=False)
    least_mb: int = 512

    @override
    def run(self) -> float:
        started = time.perf_counter()
        try:
            usage = shutil.disk_usage(self.path)
        except OSError as fault:
            raise ServiceUnavailable("The folder of the service cannot be read") from fault
        free = usage.free // MEBIBYTE
        self.details = {"free_mb": free, "used_percent": round(100 * usage.used / usage.total, 1)}
        if free < self.least_mb:
            raise ServiceUnavailable(f"Only {free} MB are free, of at least {self.least_mb}")
        return time.perf_counter() - started
