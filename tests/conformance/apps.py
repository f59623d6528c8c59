"""Lets a worker of the suite run the fixtures."""

from __future__ import annotations

from django.apps import AppConfig
from typing_extensions import override


class ConformanceConfig(AppConfig):
    name = "tests.conformance"

    @override
    def ready(self) -> None:
        from tests.conformance.backend import FixtureBackend
        from tools.backends.registry import registry
        from tools.contracts import ToolSource
        from tools.models.tool_rules import ELSEWHERE

        # The fixtures belong to no operation.
        ELSEWHERE.pop(ToolSource.HTTP_API, None)
        registry.put_before(ToolSource.HTTP_API, lambda usual: FixtureBackend())
