"""A collector, and a deployment that names it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from controlplane.logging import JsonFormatter
from tests.tools.backends.pipeline.conftest import trial
from tests.tools.tracing.collector import Collector, collecting
from tools.conf import deployment

__all__ = ["trial"]

Lines = Callable[[], list[dict[str, Any]]]
# Milliseconds after which spans are sent, however few there are.
SOON = {"OTEL_BSP_SCHEDULE_DELAY": "50"}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as running:
        yield running


@pytest.fixture
def traced(
    settings: Any, monkeypatch: pytest.MonkeyPatch, collector: Collector
) -> Iterator[Collector]:
    """The collector, to which everything that is started from now on exports.

    To be asked for before the door, which has to be gone when the deployment is as before.
    """
    values = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    for name, value in (values | SOON).items():
        monkeypatch.setenv(name, value)
    settings.CONTROL_PLANE = {**settings.CONTROL_PLANE, **values}
    deployment.cache_clear()
    yield collector
    deployment.cache_clear()


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What this process has logged so far, each line written when and where it was logged."""
    # Loading it sets up logging anew.
    import_module("controlplane.asgi")
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    yield lambda: read_lines(written.getvalue())
    root.removeHandler(handler)


def read_lines(output: str) -> list[dict[str, Any]]:
    """The lines of a log that are JSON; processes say other things too before they can log."""
    return [json.loads(line) for line in output.splitlines() if line.startswith('{"')]
