"""The product's addresses, and plain DRF views beside them as Django serves them."""

from __future__ import annotations

from django.urls import path

from bench.views import PlainCall, PlainTools
from controlplane.urls import urlpatterns as product

urlpatterns = [
    path("plain/tools", PlainTools.as_view()),
    path("plain/call-tool", PlainCall.as_view()),
    *product,
]
