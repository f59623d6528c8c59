"""Addresses of the REST door."""

from __future__ import annotations

from django.urls import path

from tools.api import corpora
from tools.api.views import CallToolView, ToolsView

urlpatterns = [
    path("tools", ToolsView.as_view(), name="tools"),
    path("call-tool", CallToolView.as_view(), name="call-tool"),
    path("api/corpora", corpora.CorporaView.as_view(), name="corpora"),
    path("api/corpora/<slug:slug>", corpora.CorpusView.as_view(), name="corpus"),
    path("api/corpora/<slug:slug>/status", corpora.StatusView.as_view(), name="corpus-status"),
    path("api/corpora/<slug:slug>/index", corpora.IndexView.as_view(), name="corpus-index"),
    path(
        "api/corpora/<slug:slug>/documents",
        corpora.DocumentsView.as_view(),
        name="corpus-documents",
    ),
    path(
        "api/corpora/<slug:slug>/documents/<int:number>",
        corpora.DocumentView.as_view(),
        name="corpus-document",
    ),
    path(
        "api/corpora/<slug:slug>/versions/<int:number>/activate",
        corpora.ActivateView.as_view(),
        name="corpus-activate",
    ),
]
