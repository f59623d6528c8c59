"""Puts the commandable backend before that of HTTP APIs."""

from __future__ import annotations

from django.apps import AppConfig
from typing_extensions import override


class FaultsConfig(AppConfig):
    name = "tests.faults"

    @override
    def ready(self) -> None:
        from tests.faults.backend import FakeBackend
        from tools.backends.registry import registry
        from tools.contracts import ToolSource
        from tools.models.tool_rules import ELSEWHERE

        # It serves tools that belong to no operation.
        self.needs_operation = ELSEWHERE.pop(ToolSource.HTTP_API)
        registry.put_before(ToolSource.HTTP_API, FakeBackend)
