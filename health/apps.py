"""The app that watches the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.apps import AppConfig
from typing_extensions import override


class HealthConfig(AppConfig):
    name = "health"
    verbose_name = "Health"

    @override
    def ready(self) -> None:
        from health.audited import watch_health
        from health.connections import open_connections
        from health.webhooks.workers import delivery_workers
        from tools.backends.ports import ports
        from tools.services.canaries import canaries

        open_connections.listen()
        ports.health = measured_health
        delivery_workers.send = _send_delivery
        watch_health()
        canaries.read = _canary_results


async def measured_health() -> Mapping[str, Any]:
    """The current health as the built-in tools take it."""
    from health.snapshot import current_health

    report = await current_health()
    return report.for_tools()


def _send_delivery(key: int, wait: int) -> None:
    """Imported when first needed: most processes never send one."""
    from health.tasks import tell_workers

    tell_workers(key, wait)


def _canary_results() -> Mapping[str, Any]:
    """Imported when first needed: only pages show them."""

    from health.canary_results import canary_results

    return canary_results()
