"""Addresses of the health app."""

from __future__ import annotations

from django.urls import path

from health.views import HealthView, LiveView, MetricsView, PipelinesView, ReadyView

urlpatterns = [
    path("health", HealthView.as_view(), name="health"),
    path("health/live", LiveView.as_view(), name="health-live"),
    path("health/ready", ReadyView.as_view(), name="health-ready"),
    path("health/pipelines", PipelinesView.as_view(), name="health-pipelines"),
    path("metrics", MetricsView.as_view(), name="metrics"),
]
