"""An MCP server as an operator changed it, and what follows for its tools."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from tools.models import Tool, UpstreamServer


def save_upstream(server: UpstreamServer) -> None:
    """Save it. Tools that had the time limit of their server get the new one."""
    with transaction.atomic():
        before = UpstreamServer.objects.filter(pk=server.pk).values_list("call_timeout", flat=True)
        limit = before.first()
        server.save()
        if limit is not None and limit != server.call_timeout:
            tools = Tool.objects.filter(upstream_item__server=server, timeout_seconds=limit)
            tools.update(timeout_seconds=server.call_timeout, updated_at=timezone.now())
