"""An MCP server as an operator changed it, and what follows for its tools."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from tools.models import Tool, UpstreamServer
from tools.services.upstream_locks import lock_server


def save_upstream(server: UpstreamServer) -> None:
    """Save it. Tools that had the time limit of their server get the new one."""
    with transaction.atomic():
        before = lock_server(pk=server.pk)
        server.save()
        if before is not None and before.call_timeout != server.call_timeout:
            tools = Tool.objects.filter(
                upstream_item__server=server, timeout_seconds=before.call_timeout
            )
            tools.update(timeout_seconds=server.call_timeout, updated_at=timezone.now())
