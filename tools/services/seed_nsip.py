"""The shipped NSIP service and its nine tools, where they are missing."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from tools.contracts import ToolSource
from tools.models import ApiOperation, ApiService, Tool
from tools.services.audit.acting import doing
from tools.services.nsip_tools import ABOUT, NSIP, NSIP_TOOLS, PREFIX, TITLE, NsipTool

COPIED = (
    *("title", "description", "read_only", "idempotent", "cache_ttl_seconds"),
    *("requires_context_management", "timeout_seconds"),
)


@dataclass(frozen=True, slots=True)
class SeededNsip:
    """The names of the tools that were made; whether agents see them."""

    created: tuple[str, ...]
    enabled: bool


@doing("The tools of NSIP.")
def seed_nsip(*, enable: bool = False, base_url: str = "") -> SeededNsip:
    """Make what is missing; what is there, and what operators changed about it, stays.

    The service is made switched off unless `enable` says otherwise, and `enable` switches on one
    that is there already. A `base_url` replaces the address.
    """
    with transaction.atomic():
        service = ApiService.objects.filter(slug=NSIP.slug).first() or _new_service()
        service.enabled = service.enabled or enable
        service.base_url = base_url or service.base_url
        service.save()
        known = set(service.operations.values_list("adapter", flat=True))
        missing = [tool for tool in NSIP_TOOLS if tool.adapter not in known]
        for tool in missing:
            _add(service, tool)
    return SeededNsip(tuple(tool.name for tool in missing), service.enabled)


def _new_service() -> ApiService:
    return ApiService(
        slug=NSIP.slug,
        title=TITLE,
        description=ABOUT,
        base_url=NSIP.base_url,
        prefix=PREFIX,
        enabled=False,
        timeout_seconds=int(NSIP.timeout_seconds),
        retries=NSIP.retries,
    )


def _add(service: ApiService, definition: NsipTool) -> None:
    tool = Tool(name=definition.name, source=ToolSource.HTTP_API)
    for name in COPIED:
        setattr(tool, name, getattr(definition, name))
    tool.input_schema = dict(definition.input_schema)
    tool.preserve_keys = list(definition.preserve_keys)
    tool.tags = [service.slug]
    operation = ApiOperation(
        service=service, adapter=definition.adapter, rules=dict(definition.rules)
    )
    operation.take(definition.operation)
    operation.configure(tool)
    tool.save()
    operation.tool = tool
    operation.save()
