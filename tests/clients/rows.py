"""What the clients find in the catalogue: more than one page of tools, a prompt and a resource."""

from __future__ import annotations

from typing import Final

from tests.factories import tool_values
from tools.mcp_server.paging import PAGE_SIZE
from tools.models import Prompt, Resource, Tool

GUIDE: Final = "Feed the sheep.\n"


def fill() -> None:
    """Save the rows; run in the folder of a running control plane."""
    filler = [
        tool_values(name=f"filler_{number:04d}", handler="filler") for number in range(PAGE_SIZE)
    ]
    Tool.objects.bulk_create([Tool(**values) for values in filler])
    Resource(uri="docs://guide", name="guide", mime_type="text/markdown", text=GUIDE).save()
    Prompt(
        name="about",
        description="Starts a talk about something.",
        arguments=[{"name": "topic", "required": True}],
        messages=[{"role": "user", "content": {"type": "text", "text": "Tell me about {topic}."}}],
    ).save()
    # The last one tells that all are there.
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    Tool(**tool_values(name="echo", input_schema=schema)).save()
