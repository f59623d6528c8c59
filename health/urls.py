"""Addresses of the health app."""

from __future__ import annotations

from django.urls import path

from health.views import HealthView, MetricsView

urlpatterns = [
    path("health", HealthView.as_view(), name="health"),
    path("metrics", MetricsView.as_view(), name="metrics"),
]
