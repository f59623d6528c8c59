"""A journal made lossy on purpose: events are gathered in memory and sent later, as a hasty
implementation would. The campaign must notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from django.apps import AppConfig
from typing_extensions import override


class LossyConfig(AppConfig):
    name = "tests.chaos"
    label = "lossy"

    @override
    def ready(self) -> None:
        from tools.execution.journal import Journal

        honest = Journal._send

        def later(self: Journal, event: Mapping[str, Any]) -> asyncio.Future[Any]:
            loop = asyncio.get_running_loop()
            loop.call_later(3, honest, self, event)
            pretended: asyncio.Future[Any] = loop.create_future()
            pretended.set_result("0-0")
            return pretended

        Journal._send = later  # type: ignore[method-assign]
