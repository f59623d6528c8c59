"""The Todo server of the demo, where it is missing, and what it offers."""

from __future__ import annotations

import asyncio
from typing import Final

from tools.backends.upstream.children.commands import allowed_commands
from tools.errors import ControlPlaneError
from tools.models import UpstreamServer
from tools.services.sync_upstream import record_discovery, record_failure
from tools.upstreams import UpstreamTransport

TODO: Final = "todo"
COMMAND: Final = "todo-server"
CALL_SECONDS: Final = 5
# At a start everything else starts too, and a small machine has better to do.
CONNECT_SECONDS: Final = 15


def seed_upstreams() -> tuple[list[str], list[str]]:
    """Create the server on a first start; what was created, and what was not and why."""
    # Once an operator has some, a deleted one must not come back.
    if UpstreamServer.objects.exists():
        return [], []
    if COMMAND not in allowed_commands():
        return [], [f"MCP server {TODO}: UPSTREAM_COMMANDS does not list {COMMAND}"]
    UpstreamServer(
        slug=TODO,
        display_name="TodoDatabaseServer",
        description="A todo list with a database of its own, to try: create_todo adds to it.",
        transport=UpstreamTransport.STDIO.value,
        command=COMMAND,
        connect_timeout=CONNECT_SECONDS,
        call_timeout=CALL_SECONDS,
        connect_at_start=True,
        unavailable_message="Unable to access todo database. Please try again later.",
    ).save()
    return [f"MCP server {TODO}"], []


def meet_upstreams() -> list[str]:
    """Ask the server what it offers, if nobody has; what kept it from answering.

    Whoever serves asks it anyway. But then its tools are not there for the first callers.
    """
    row = UpstreamServer.objects.filter(
        slug=TODO, command=COMMAND, enabled=True, discovered_at=None
    ).first()
    if row is None:
        return []
    # Loaded here: most starts find everything known, and the client takes a while.
    from tools.backends.upstream.probing import probe

    try:
        found = asyncio.run(probe(row.to_value()))
    except ControlPlaneError as fault:
        record_failure(row.slug, fault.message)
        return [f"tools of MCP server {TODO}: {fault.message}"]
    record_discovery(row.slug, found)
    return []
