"""Registers the trial pipeline, in the workers of tests."""

from __future__ import annotations

from django.apps import AppConfig
from typing_extensions import override


class TrialConfig(AppConfig):
    name = "tests.tools.backends.pipeline"
    label = "trial"

    @override
    def ready(self) -> None:
        from tests.tools.backends.pipeline.trial import Trial
        from tools.techniques import techniques

        techniques.register(Trial)
