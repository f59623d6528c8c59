"""What a first start needs to show something: the service, its tools, a prompt, a resource, a client.

Safe to run at every start: rows are created when missing, and what an operator changed stays.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from tools.backends.builtin import BUILTINS, BuiltinTool
from tools.conf import ServiceSettings, deployment
from tools.contracts import ToolSource
from tools.models import ApiClient, ServiceConfiguration, Tool, Toolset
from tools.services.audit.acting import doing
from tools.services.issue_key import issue_key
from tools.services.nsip_tools import PREFIX
from tools.services.seed_nsip import seed_nsip
from tools.services.seed_offerings import seed_offerings
from tools.services.seed_pipelines import seed_pipelines
from tools.services.seed_upstreams import meet_upstreams, seed_upstreams

EVERYTHING = "all"
DEMO_CLIENT = "demo"
DIGEST = "definition"


@dataclass(slots=True)
class SeedResult:
    """What was created, renewed or left alone, and the demo key when one was issued."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    demo_key: str | None = field(default=None, repr=False)


@doing("Demo data.")
def seed_demo(*, servers: bool = True) -> SeedResult:
    """Create what is missing, in one transaction; then ask new MCP servers what they offer.

    Without `servers` there are none of those.
    """
    result = SeedResult()
    with transaction.atomic():
        _seed_service(result)
        for builtin in BUILTINS.values():
            _seed_tool(builtin, result)
        result.created += seed_offerings()
        _seed_pipelines(result)
        _seed_nsip(result)
        if servers:
            _seed_upstreams(result)
        _seed_toolset(result)
        _seed_client(result)
    if servers:
        result.skipped += meet_upstreams()
    return result


def _seed_nsip(result: SeedResult) -> None:
    """Ready to be switched on; until then agents do not see it."""
    taken = Tool.objects.filter(name__startswith=PREFIX).exclude(api_operation__adapter__gt="")
    if taken.exists():
        result.skipped.append(f"tools {PREFIX}*: a name is taken by {taken[0].name}")
        return
    result.created += [f"tool {name} (switched off)" for name in seed_nsip().created]


def _seed_service(result: SeedResult) -> None:
    named = deployment().service_overrides.get("SERVICE__NAME")
    rows = ServiceConfiguration.objects.all()
    # A service configured under another name is the one to serve; ours would take its place.
    if rows.filter(service_name=named).exists() if named else rows.exists():
        return
    row = ServiceConfiguration(service_name=named or ServiceSettings().service_name)
    row.save()
    result.created.append(f"service {row.service_name}")


def _seed_tool(builtin: BuiltinTool, result: SeedResult) -> None:
    row = Tool.objects.filter(name=builtin.name).first()
    definition = _definition(builtin)
    digest = hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]
    if row is None:
        row = Tool(
            name=builtin.name,
            requires_context_management=builtin.requires_context_management,
            metadata={DIGEST: digest},
            **definition,
        )
        row.save()
        result.created.append(f"tool {row.name}")
        return
    if row.source != ToolSource.BUILTIN:
        result.skipped.append(
            f"tool {row.name}: the name is taken by a tool of source {row.source}"
        )
        return
    # The digest tells a changed definition from an operator's own wording, which stays.
    if isinstance(row.metadata, dict) and row.metadata.get(DIGEST) == digest:
        return
    _renew(row, definition, digest, result)


def _renew(row: Tool, definition: dict[str, Any], digest: str, result: SeedResult) -> None:
    for name, value in definition.items():
        setattr(row, name, value)
    row.metadata = {**(row.metadata if isinstance(row.metadata, dict) else {}), DIGEST: digest}
    problems = row.problems()
    if problems:
        result.skipped.append(f"tool {row.name}: {'; '.join(problems)}")
        return
    row.save()
    result.updated.append(f"tool {row.name}")


def _definition(builtin: BuiltinTool) -> dict[str, Any]:
    """What the code says about a built-in, as plain JSON; limits and switches are the operator's."""
    definition = {
        "source": ToolSource.BUILTIN.value,
        "handler": builtin.name,
        "title": builtin.title,
        "description": builtin.description,
        "input_schema": builtin.input_schema,
        "output_schema": builtin.output_schema,
        "read_only": builtin.read_only,
        "destructive": builtin.destructive,
        "idempotent": builtin.idempotent,
        "required_prefix": builtin.required_prefix,
    }
    plain: dict[str, Any] = json.loads(json.dumps(definition))
    return plain


def _seed_pipelines(result: SeedResult) -> None:
    created, skipped = seed_pipelines()
    result.created += created
    result.skipped += skipped


def _seed_upstreams(result: SeedResult) -> None:
    created, skipped = seed_upstreams()
    result.created += created
    result.skipped += skipped


def _seed_toolset(result: SeedResult) -> None:
    _, created = Toolset.objects.get_or_create(
        slug=EVERYTHING,
        defaults={
            "description": "Every tool, prompt and resource, also ones added later.",
            "includes_all": True,
        },
    )
    if created:
        result.created.append(f"toolset {EVERYTHING}")


def _seed_client(result: SeedResult) -> None:
    # Once an operator has clients, a deleted demo client must not come back.
    if ApiClient.objects.exists():
        return
    result.demo_key = issue_key(DEMO_CLIENT, toolsets=[EVERYTHING]).key
    result.created.append(f"client {DEMO_CLIENT}")
