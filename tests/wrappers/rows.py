"""What the control plane has beside its demo: tools that fail on command, and one that goes away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from django.core.management import call_command

from tests.factories import make_tool
from tests.processes import wait_until
from tools.models import ApiService
from tools.services.fetch_document import fetch_document

NAME: Final = "control-plane"
UNRULY: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "fail": {"type": "string"},
        "number": {"type": "integer", "maximum": 5},
        "result": {},
    },
}


def fill(nsip: str, url: str, folder: str) -> None:
    """Save the rows and generate wrappers; run beside a running control plane."""
    call_command("seed_nsip", "--enable", "--base-url", nsip)
    service = ApiService.objects.get(slug="nsip")
    service.allowed_networks = ["127.0.0.1/32"]
    service.save()
    gone = make_tool(name="gone", source="http_api")
    # The last one tells that all are there.
    make_tool(name="unruly", source="http_api", input_schema=UNRULY)
    wait_until(lambda: "unruly" in _listed(url), what="the tools")
    registry = Path(folder) / "services.yaml"
    registry.write_text(f"- name: {NAME}\n  url: {url}\n  enabled: true\n")
    call_command("service_registry", "import", str(registry))
    call_command("generate_wrappers", "--output", f"{folder}/output")
    gone.delete()


def _listed(url: str) -> set[str]:
    listed = json.loads(fetch_document(f"{url}/tools", ("127.0.0.0/8",)))
    return {tool["name"] for tool in listed["tools"]}
