"""Rows of every kind that the admin lists, as many as wanted, belonging together as they do in use."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from axes.models import AccessAttempt
from django.contrib.auth.models import Group, User
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from health.models import (
    HealthSnapshot,
    HealthWebhook,
    ServiceLevelObjective,
    StatusChange,
    WebhookDelivery,
)
from tests.factories import make_prompt, make_resource, tool_values
from tests.health.reports import full_report
from tests.tools.backends.rows import finished, logged
from tests.upstream_rows import definition
from tools.errors import ErrorCode
from tools.models import (
    ApiClient,
    ApiOperation,
    ApiService,
    Chunk,
    Corpus,
    Document,
    EvaluationRun,
    IndexVersion,
    PipelineConfig,
    RegisteredService,
    Tool,
    Toolset,
    UpstreamItem,
    UpstreamServer,
)
from tools.techniques import techniques

KINDS = ("http_api", "upstream", "pipeline", "builtin")


class Rows:
    """Adds rows; the first of each kind is the parent of all, so that single pages grow as well."""

    def __init__(self) -> None:
        self._made = 0

    def add(self, count: int) -> None:
        """So many more of each kind."""
        for _ in range(count):
            self._made += 1
            self._catalogue(self._made)
            self._knowledge(self._made)
            self._health(self._made)
            self._access(self._made)
        self._calls(count)

    def _catalogue(self, number: int) -> None:
        server = _first(UpstreamServer, slug=f"server-{number}", url="https://mcp.example.org/mcp")
        service = _first(ApiService, slug=f"api-{number}", base_url="https://api.example.org")
        tools = {
            kind: _made(Tool, **tool_values(name=f"{kind}_{number}", source=kind)) for kind in KINDS
        }
        _made(
            UpstreamItem,
            server=server,
            kind="tool",
            remote_name=f"tool_{number}",
            tool=tools["upstream"],
            state="approved",
            offered=definition(f"tool_{number}"),
        )
        _made(
            ApiOperation,
            service=service,
            tool=tools["http_api"],
            method="GET",
            path=f"/things/{number}",
        )
        make_prompt(name=f"prompt_{number}")
        make_resource(uri=f"docs://many/{number}")
        toolset = _first(Toolset, slug=f"many-{number}")
        toolset.tools.add(*tools.values())

    def _knowledge(self, number: int) -> None:
        corpus = _first(Corpus, slug=f"corpus-{number}")
        content = f"Text {number}.".encode()
        document = _first(
            Document,
            corpus=corpus,
            name=f"{number}.txt",
            media_type="text/plain",
            digest=f"{number:064x}",
            size=len(content),
            content=content,
            status="ready",
        )
        ordinal = number + 1000
        _made(Chunk, document=document, ordinal=ordinal, text=f"Text {number}.", tokens=2)
        version = _first(
            IndexVersion, corpus=corpus, number=number, embedding_model=corpus.embedding_model
        )
        # There is one pipeline for each technique at most.
        if number <= len(techniques.names()):
            name = sorted(techniques.names())[number - 1]
            tool = Tool.objects.get(name=f"pipeline_{number}")
            _made(PipelineConfig, pipeline_name=name, tool=tool, corpus=corpus)
        _made(
            EvaluationRun, pipeline_name="basic", version=version, dataset="trial", queries=number
        )

    def _health(self, number: int) -> None:
        report = full_report().to_json()
        _made(HealthSnapshot, taken_at=_now(), status="healthy", report=report)
        change = _first(
            StatusChange, at=_now(), subject="service", name="service", before="a", after="b"
        )
        _made(ServiceLevelObjective, tool=f"http_api_{number}", availability_percent=99)
        hook = _first(HealthWebhook, name=f"hook {number}", url="https://hooks.example.org")
        _made(WebhookDelivery, webhook=hook, change=change, event={})
        every, _ = IntervalSchedule.objects.get_or_create(every=7, period="minutes")
        _made(PeriodicTask, name=f"task {number}", task="tools.tasks.fold_figures", interval=every)

    def _access(self, number: int) -> None:
        client = _first(
            ApiClient, name=f"caller {number}", key_hash=f"{number:064x}", key_hint=f"{number}"
        )
        client.toolsets.add(Toolset.objects.get(slug=f"many-{number}"))
        _made(RegisteredService, name=f"service-{number}", url="http://127.0.0.1:8001")
        person = _first(User, username=f"person {number}")
        person.groups.add(_made(Group, name=f"group {number}"))
        _made(
            AccessAttempt,
            username=f"person {number}",
            ip_address="192.0.2.1",
            path_info="/admin/login/",
            failures_since_start=1,
        )

    def _calls(self, count: int) -> None:
        client = ApiClient.objects.order_by("pk")[0]
        logged(
            finished(
                f"{KINDS[number % 4]}_{1 + number % self._made}",
                caller=f"client:{client.pk}",
                code=ErrorCode.TIMEOUT if number % 5 == 0 else None,
                correlation_id="many",
                request_id=uuid.uuid4(),
            )
            for number in range(4 * count)
        )


def _made(model: Any, **values: Any) -> Any:
    # Without what saving does elsewhere: this is about reading.
    return model.objects.bulk_create([model(**values)])[0]


def _first(model: Any, **values: Any) -> Any:
    """A new row, and then the first of its kind, which everything is to belong to."""
    _made(model, **values)
    return model.objects.order_by("pk")[0]


def _now() -> datetime:
    return datetime.now(UTC)
