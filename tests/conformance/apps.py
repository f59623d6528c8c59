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

        registry.put_before(ToolSource.HTTP_API, lambda usual: FixtureBackend())
