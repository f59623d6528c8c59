"""`GET /health` and what is below it, and `GET /metrics`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import override

from health.findings import DATABASE, HealthReport, Source
from health.metrics import CONTENT_TYPE, exposition
from health.snapshot import current_health
from health.status import CHOICES, DependencyStatus, HealthStatus, as_served, of_pipelines
from tools.api.base import AsyncAPIView
from tools.api.credentials import credentials_of
from tools.api.renderers import EncodedJSONRenderer
from tools.api.serializers import EnvelopeSerializer
from tools.conf import deployment
from tools.contracts import ServiceState
from tools.errors import PathNotFound
from tools.execution.identity import identify, prepare
from tools.execution.runtime import current
from tools.guards.breaker import BreakerState


class DependencySerializer(serializers.Serializer[object]):
    """What the check of one dependency found."""

    status = serializers.ChoiceField(choices=[item.value for item in DependencyStatus])
    error = serializers.CharField(required=False, help_text="Present unless it is connected.")
    response_time_ms = serializers.IntegerField(min_value=0, required=False)
    details = serializers.DictField(required=False, help_text="Figures that the check took.")


class PipelineSerializer(serializers.Serializer[object]):
    """How one pipeline is."""

    status = serializers.ChoiceField(choices=CHOICES)
    last_success = serializers.DateTimeField(allow_null=True)
    error_rate = serializers.FloatField(help_text="Of the last hour, from 0 to 1.")
    error = serializers.CharField(allow_null=True)
    canary_ms = serializers.IntegerField(
        allow_null=True, help_text="How long the last test query took."
    )
    counted = serializers.BooleanField(
        help_text="Whether it says something of the service: it is switched on and has an index."
    )


class FreshnessSerializer(serializers.Serializer[object]):
    """When and by whom it was measured."""

    timestamp = serializers.DateTimeField(help_text="When it was measured, ISO 8601, UTC.")
    age_seconds = serializers.FloatField(help_text="How long ago that was.")
    source = serializers.ChoiceField(  # type: ignore[assignment] # fields are not attributes
        choices=[item.value for item in Source],
        help_text="A round of the workers, or this process itself.",
    )


class PipelinesResponseSerializer(FreshnessSerializer):
    """`GET /health/pipelines`."""

    status = serializers.ChoiceField(choices=CHOICES)
    pipelines = serializers.DictField(child=PipelineSerializer())


class BreakerSerializer(serializers.Serializer[object]):
    """A circuit breaker."""

    state = serializers.ChoiceField(choices=[item.value for item in BreakerState])
    failure_count = serializers.IntegerField(min_value=0)


class CallsSerializer(serializers.Serializer[object]):
    """Calls of the last hour; empty while they cannot be read."""

    total = serializers.IntegerField(required=False)
    successful = serializers.IntegerField(required=False)
    failed = serializers.IntegerField(required=False)
    success_rate = serializers.FloatField(required=False)


class ObjectiveSerializer(serializers.Serializer[object]):
    """How a service level objective stands."""

    met = serializers.BooleanField()
    window_days = serializers.IntegerField()
    calls = serializers.IntegerField(help_text="Those that count, of the last days.")
    target_percent = serializers.FloatField()
    availability_percent = serializers.FloatField(allow_null=True)
    budget_burnt = serializers.FloatField(help_text="1: all that may fail has failed.")
    latency_ms = serializers.IntegerField(allow_null=True)
    latency_target_percent = serializers.FloatField(allow_null=True)
    within_latency_percent = serializers.FloatField(allow_null=True)
    latency_budget_burnt = serializers.FloatField(allow_null=True)


class HealthResponseSerializer(FreshnessSerializer):
    """`GET /health`."""

    status = serializers.ChoiceField(choices=CHOICES)
    reasons = serializers.ListField(
        child=serializers.CharField(), help_text="What keeps it from being healthy."
    )
    service = serializers.CharField(help_text="Configured name of the service.")
    version = serializers.CharField(help_text="Version of the service.")
    uptime_seconds = serializers.IntegerField(min_value=0)
    dependencies = serializers.DictField(child=DependencySerializer())
    pipelines = serializers.DictField(child=serializers.ChoiceField(choices=CHOICES))
    circuit_breakers = serializers.DictField(child=BreakerSerializer())
    metrics = CallsSerializer()
    objectives = serializers.DictField(child=ObjectiveSerializer())
    state = serializers.ChoiceField(choices=[item.value for item in ServiceState])


class LiveSerializer(serializers.Serializer[object]):
    """`GET /health/live` and `GET /health/ready`."""

    status = serializers.CharField()
    state = serializers.ChoiceField(choices=[item.value for item in ServiceState])


REFUSALS: Final = {
    405: OpenApiResponse(EnvelopeSerializer, description="No such method here"),
    406: OpenApiResponse(EnvelopeSerializer, description="Answers are JSON only"),
}


class HealthView(AsyncAPIView):
    """How the service is, by the latest round of checks."""

    @extend_schema(
        operation_id="health",
        summary="Health of the service",
        responses={
            200: OpenApiResponse(HealthResponseSerializer, description="Healthy or degraded"),
            503: OpenApiResponse(HealthResponseSerializer, description="Unavailable"),
            **REFUSALS,
        },
    )
    async def get(self, request: Request) -> Response:
        runtime = current()
        report = await current_health()
        status = as_served(report.status, runtime.state)
        body = {
            "status": status.value,
            "reasons": report.reasons,
            "service": runtime.settings.service_name,
            "version": deployment().version,
            "uptime_seconds": max(0, int((datetime.now(UTC) - runtime.started_at).total_seconds())),
            "dependencies": report.dependencies_to_wire(),
            "pipelines": {name: one.status.value for name, one in report.pipelines.items()},
            "circuit_breakers": dict(report.breakers),
            "metrics": dict(report.calls),
            "objectives": dict(report.objectives),
            "state": runtime.state.value,
            **_freshness(report),
        }
        return Response(body, status=503 if status is HealthStatus.UNAVAILABLE else 200)


class PipelinesView(AsyncAPIView):
    """How each pipeline is, by the latest round of checks."""

    @extend_schema(
        operation_id="health_pipelines",
        summary="Health of the pipelines",
        responses={200: PipelinesResponseSerializer, **REFUSALS},
    )
    async def get(self, request: Request) -> Response:
        report = await current_health()
        offered = [one.status for one in report.pipelines.values() if one.counted]
        body = {
            "status": of_pipelines(offered).value,
            "pipelines": report.pipelines_to_wire(),
            **_freshness(report),
        }
        return Response(body)


class LiveView(AsyncAPIView):
    """Whether the process answers at all: if not, start it anew. Nothing else is looked at."""

    @extend_schema(
        operation_id="health_live",
        summary="The process answers",
        responses={200: LiveSerializer, **REFUSALS},
    )
    async def get(self, request: Request) -> Response:
        return Response({"status": "live", "state": current().state.value})


class ReadyView(AsyncAPIView):
    """Whether calls should be sent here: it serves, and what it cannot do without is there."""

    @extend_schema(
        operation_id="health_ready",
        summary="The process takes calls",
        responses={
            200: OpenApiResponse(LiveSerializer, description="Send calls here"),
            503: OpenApiResponse(LiveSerializer, description="Do not"),
            **REFUSALS,
        },
    )
    async def get(self, request: Request) -> Response:
        runtime = current()
        report = await current_health()
        database = report.dependencies[DATABASE].status is DependencyStatus.CONNECTED
        ready = database and as_served(HealthStatus.HEALTHY, runtime.state) is HealthStatus.HEALTHY
        body = {"status": "ready" if ready else "not ready", "state": runtime.state.value}
        return Response(body, status=200 if ready else 503)


def _freshness(report: HealthReport) -> dict[str, Any]:
    return {
        "timestamp": report.timestamp,
        "age_seconds": round(report.age_seconds, 3),
        "source": report.source.value,
    }


class AnyAccept(BaseContentNegotiation):
    """One format for everyone: scrapers ask for text, browsers for HTML, and get the same."""

    @override
    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        return next(iter(parsers))

    @override
    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class MetricsView(AsyncAPIView):
    """Figures for Prometheus, where the service is configured to give them."""

    renderer_classes = (EncodedJSONRenderer,)
    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="metrics",
        summary="Prometheus metrics",
        responses={
            (200, "text/plain"): OpenApiTypes.STR,
            401: OpenApiResponse(EnvelopeSerializer, description="Keys are on and none was sent"),
            404: OpenApiResponse(EnvelopeSerializer, description="Metrics are switched off"),
            405: OpenApiResponse(EnvelopeSerializer, description="No such method here"),
        },
    )
    async def get(self, request: Request) -> Response:
        runtime = current()
        if not runtime.settings.monitoring_metrics_enabled:
            raise PathNotFound("There is nothing at this address")
        # Names of tools and how much they are used are for callers; health alone is for everyone.
        credentials = credentials_of(request)
        await prepare(credentials)
        identify(credentials, runtime.directory.catalogue)
        return Response(await exposition(runtime), content_type=CONTENT_TYPE)
