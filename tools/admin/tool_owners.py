"""What brings a tool along: which of its fields follow from that, and where they are changed."""

from __future__ import annotations

from typing import Any, Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tools.admin.offer_links import offer_of
from tools.models import ApiOperation, PipelineConfig

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
# The rows that tell of it, by name.
OWNERS: Final = ("pipeline", "offer", "operation")
OF_PIPELINE: Final = (
    *("input_schema", "output_schema", "source", "handler", "remote_name", "required_prefix"),
    *("timeout_seconds", "max_concurrent"),
)
# What a server says of its tool.
OF_OFFER: Final = (
    *("title", "description", "input_schema", "output_schema"),
    *("source", "handler", "remote_name", "required_prefix", "dependency"),
    *("read_only", "destructive", "idempotent"),
)
OF_OPERATION: Final = ("source", "handler", "remote_name", "required_prefix")
_FIELDS: Final = {"pipeline": OF_PIPELINE, "offer": OF_OFFER, "operation": OF_OPERATION}


def pipeline_of(tool: Any) -> PipelineConfig | None:
    found: PipelineConfig | None = getattr(tool, "pipeline_reference", None)
    return found


def operation_of(tool: Any) -> ApiOperation | None:
    found: ApiOperation | None = getattr(tool, "api_operation", None)
    return found


def owner_row(tool: Any) -> str:
    """Which of `OWNERS` tells of what brings the tool along; empty when nothing does."""
    if pipeline_of(tool) is not None:
        return "pipeline"
    if offer_of(tool) is not None:
        return "offer"
    return "operation" if operation_of(tool) is not None else ""


def owned_fields(tool: Any) -> tuple[str, ...]:
    """The fields of a tool that are not its own."""
    return _FIELDS.get(owner_row(tool), ())


def pipeline_link(tool: Any) -> SafeString:
    """What manages this tool: its arguments, its limits, and whether it is there at all."""
    found = pipeline_of(tool)
    if found is None:
        return format_html("{}", "-")
    return format_html(
        LINK + ". Arguments, source, timeout and concurrency are set there. Deleting this tool "
        "deletes the pipeline.",
        reverse("admin:tools_pipelineconfig_change", args=[found.pk]),
        found.pipeline_name,
    )


def operation_link(tool: Any) -> SafeString:
    """The request that this tool makes, and the API it is made to."""
    found = operation_of(tool)
    if found is None:
        return format_html("{}", "-")
    return format_html(
        LINK + " of " + LINK + ". The request, and which argument goes where in it, are set there. "
        "Deleting this tool deletes the operation.",
        reverse("admin:tools_apioperation_change", args=[found.pk]),
        found,
        reverse("admin:tools_apiservice_change", args=[found.service_id]),
        found.service,
    )
