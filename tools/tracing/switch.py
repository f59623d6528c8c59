"""Whether this process exports spans. Off unless the deployment names a collector.

While it is off, OpenTelemetry is not loaded and a call pays for one look at `_switch.out`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.conf import TracingSettings, deployment
from tools.tracing.spans import Kind, Spans

if TYPE_CHECKING:
    from tools.tracing.exporting import Exporting


@dataclass
class _Switch:
    """The exporter of this process, while there is one, and by how many it is wanted."""

    out: Exporting | None = None
    wanted: int = 0


logger = logging.getLogger(__name__)
_switch = _Switch()


def begin_spans(name: str, trace: Mapping[str, str], kind: Kind = Kind.SERVER) -> Spans | None:
    """A span that begins now, below the one `trace` tells of; None while nothing is exported."""
    out = _switch.out
    return None if out is None else Spans(out, name, trace, kind)


def start_tracing(service: Callable[[], str], settings: TracingSettings | None = None) -> None:
    """Export spans from now on, if the deployment says so, under the name that `service` gives.

    To be called in the process that makes the spans, after any fork. Every start needs a stop.
    """
    settings = settings or deployment().tracing
    _switch.wanted += 1
    if settings is None or _switch.out is not None:
        return
    try:
        # Half a second of loading, which only those pay who export.
        from tools.tracing.exporting import Exporting

        _switch.out = Exporting(settings, settings.service_name or service())
    except Exception:
        # Such as variables of OpenTelemetry that contradict each other. Calls come first.
        logger.exception("No spans are exported")


def stop_tracing() -> None:
    """Export what is left, for at most a second, once nobody in this process wants it any more."""
    _switch.wanted -= 1
    out = _switch.out
    if out is not None and _switch.wanted <= 0:
        _switch.out = None
        out.close()
