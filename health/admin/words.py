"""How health looks on pages: colours, ages, and who measured."""

from __future__ import annotations

from typing import Final

from django.utils.safestring import SafeString

from health.findings import Source
from tools.admin.texts import badge

COLOURS: Final = {
    "healthy": "success",
    "connected": "success",
    "degraded": "warning",
    "unknown": "warning",
    "unavailable": "danger",
}
MEASURED_BY: Final = {
    Source.SNAPSHOT: "a round of the workers",
    Source.MEASURED: "a web process by itself",
}
_UNITS: Final = ((86_400, "day"), (3600, "hour"), (60, "minute"))


def status_badge(status: str) -> SafeString:
    """A status in its colour."""
    return badge(status, COLOURS.get(status, ""))


def anchor(subject: str) -> str:
    """The name of the place on a page where a subject of health is shown."""
    return f"found-{subject.replace(' ', '-')}"


def lasted(seconds: float) -> str:
    """How long something was: 12 s, 3 minutes."""
    for size, name in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {name}s"
    return f"{seconds:.0f} s"


def ago(seconds: float) -> str:
    """How long ago something was: 12 s ago, 3 minutes ago."""
    return f"{lasted(seconds)} ago"
