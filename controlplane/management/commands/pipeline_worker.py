"""`manage.py pipeline_worker`: one more worker for the queries of pipelines, for example on its own machine."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from typing_extensions import override

from controlplane.runtime.programs import pipelines_command


class Command(BaseCommand):
    """Becomes the Celery worker that `up` runs as `pipelines`; signals go to that."""

    help = "Run a worker for the queries of all pipelines until it is told to stop."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--concurrency",
            type=int,
            default=settings.ENVIRONMENT.pipeline_concurrency,
            help="Processes, each with models of its own; PIPELINE_CONCURRENCY unless given.",
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        settings.RUNTIME_PATHS.create()
        command = pipelines_command(settings.RUNTIME_PATHS, max(1, options["concurrency"]))
        os.execv(command[0], command)  # noqa: S606 - our own interpreter and module
