"""`GET /health` and `GET /metrics`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import override

from health.metrics import CONTENT_TYPE, exposition
from health.snapshot import current_health
from health.status import DependencyStatus, HealthStatus, as_served
from tools.api.base import AsyncAPIView
from tools.api.credentials import credentials_of
from tools.api.renderers import EncodedJSONRenderer
from tools.api.serializers import EnvelopeSerializer
from tools.conf import deployment
from tools.contracts import ServiceState
from tools.errors import PathNotFound
from tools.execution.identity import identify, prepare
from tools.execution.runtime import current


class DependencySerializer(serializers.Serializer[object]):
    """What the check of one dependency found."""

    status = serializers.ChoiceField(choices=[item.value for item in DependencyStatus])
    error = serializers.CharField(required=False, help_text="Present unless it is connected.")
    response_time_ms = serializers.IntegerField(min_value=0, required=False)


class HealthResponseSerializer(serializers.Serializer[object]):
    """`GET /health`."""

    status = serializers.ChoiceField(choices=[item.value for item in HealthStatus])
    service = serializers.CharField(help_text="Configured name of the service.")
    version = serializers.CharField(help_text="Version of the service.")
    uptime_seconds = serializers.IntegerField(min_value=0)
    dependencies = serializers.DictField(child=DependencySerializer())
    timestamp = serializers.DateTimeField(help_text="ISO 8601, UTC, milliseconds.")
    state = serializers.ChoiceField(choices=[item.value for item in ServiceState])


class HealthView(AsyncAPIView):
    """How the service is: measured now, or within the last second."""

    @extend_schema(
        operation_id="health",
        summary="Health of the service",
        responses={
            200: OpenApiResponse(HealthResponseSerializer, description="Healthy or degraded"),
            405: OpenApiResponse(EnvelopeSerializer, description="No such method here"),
            406: OpenApiResponse(EnvelopeSerializer, description="Answers are JSON only"),
            503: OpenApiResponse(HealthResponseSerializer, description="Unavailable"),
        },
    )
    async def get(self, request: Request) -> Response:
        runtime = current()
        report = await current_health()
        status = as_served(report.status, runtime.state)
        body = {
            "status": status.value,
            "service": runtime.settings.service_name,
            "version": deployment().version,
            "uptime_seconds": max(0, int((datetime.now(UTC) - runtime.started_at).total_seconds())),
            "dependencies": report.dependencies_to_wire(),
            "timestamp": report.timestamp,
            "state": runtime.state.value,
        }
        return Response(body, status=503 if status is HealthStatus.UNAVAILABLE else 200)


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
