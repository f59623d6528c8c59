"""Addresses of the whole service."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from controlplane.history import history

# Unless that has been done: the addresses are those of the pages that there are.
admin.autodiscover()

handler403 = "controlplane.fallbacks.forbidden"
handler404 = "controlplane.fallbacks.not_found"
handler500 = "controlplane.fallbacks.server_error"
handler400 = "controlplane.fallbacks.bad_request"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("", include("tools.api.urls")),
    path("", include("health.urls")),
    # Before the admin's own page, which knows only what was done in the admin.
    path("admin/<slug:app>/<slug:model>/<path:object_id>/history/", history),
    path("admin/", admin.site.urls),
    path("api/schema", SpectacularJSONAPIView.as_view(), name="schema"),
    # Its script comes by itself: pages may not have any of their own in place.
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
]
