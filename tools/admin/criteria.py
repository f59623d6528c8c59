"""The page of the success criteria: measured over a stretch of the request log."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from tools.services.success_criteria import RANGES, success_criteria

DEFAULT: Final = "24h"


class CriteriaView(UnfoldModelAdminViewMixin, TemplateView):
    """What is measured beside what is wanted, and a verdict where there is something to judge by."""

    title = "Success criteria"
    permission_required = "tools.view_toolrequest"
    template_name = "tools/admin/criteria.html"
    request: HttpRequest

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        chosen = self.request.GET.get("range", "")
        if chosen not in RANGES:
            chosen = DEFAULT
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context.update(
            criteria=success_criteria(RANGES[chosen]), ranges=list(RANGES), chosen=chosen
        )
        return context
