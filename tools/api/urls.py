"""Addresses of the REST door."""

from __future__ import annotations

from django.urls import path

from tools.api.views import CallToolView, ToolsView

urlpatterns = [
    path("tools", ToolsView.as_view(), name="tools"),
    path("call-tool", CallToolView.as_view(), name="call-tool"),
]
