"""Registers the commandable backend under a source no other part of this build serves."""

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

        registry.register(ToolSource.HTTP_API, FakeBackend())
